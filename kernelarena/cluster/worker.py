"""What runs inside a Ray actor: a judge, and the plain text that goes in and out of it."""

from __future__ import annotations

import importlib
import os
import traceback
from typing import Protocol

from pydantic import BaseModel

from kernelarena.errors import InputError
from kernelarena.spec import Kernel, Platform, Sweep, TaskSource, Verdict

JUDGE = "kernelarena.judge:Judge"


class Judge(Protocol):
    """What a judge is to this package."""

    def judge(self, kernel: Kernel, task: TaskSource, platform: Platform, sweep: Sweep, hidden_seed: int) -> Verdict:
        """Put one cell through the gates."""

    def build(self, kernel: Kernel, task: TaskSource, platform: Platform, sweep: Sweep) -> None:
        """Compile what a cell will need where it is judged, and leave it where the judge there finds it."""

    def close(self) -> None:
        """End every process that it started."""


class Answer(BaseModel):
    """What a worker replies: a verdict, or what went wrong in the judge itself."""

    verdict: Verdict | None = None
    error: str = ""
    input: bool = False
    """Whether the error is the user's (a task whose reference does not work) and not ours."""


def load(factory: str) -> Judge:
    """Make a judge, of ``module:name``."""
    module, _, name = factory.partition(":")
    judge: Judge = getattr(importlib.import_module(module), name)()
    return judge


class Worker:
    """Owns one judge, built at the first cell.

    Parameters
    ----------
    factory
        ``module:name`` of what makes a judge.
    """

    def __init__(self, factory: str = JUDGE) -> None:
        self._factory = factory
        self._judge: Judge | None = None

    def judge(self, kernel: str, task: str, platform: str, sweep: str, hidden_seed: int) -> str:
        """Judge one cell. Models travel as JSON, so that the two ends need not agree on how classes are pickled."""
        try:
            verdict = self._own().judge(
                Kernel.model_validate_json(kernel),
                TaskSource.model_validate_json(task),
                Platform.model_validate_json(platform),
                Sweep.model_validate_json(sweep),
                hidden_seed,
            )
        except InputError as error:
            return Answer(error=str(error), input=True).model_dump_json()
        except Exception as error:  # a bug of ours; it must cost this cell and not the run
            traceback.print_exc()  # to the worker's own log
            return Answer(error=" ".join("".join(traceback.format_exception_only(error)).split())).model_dump_json()
        return Answer(verdict=verdict).model_dump_json()

    def build(self, kernel: str, task: str, platform: str, sweep: str) -> None:
        """Compile what a cell needs, ahead of a device's worker. Whatever goes wrong is that one's to name."""
        try:
            self._own().build(
                Kernel.model_validate_json(kernel),
                TaskSource.model_validate_json(task),
                Platform.model_validate_json(platform),
                Sweep.model_validate_json(sweep),
            )
        except Exception:
            traceback.print_exc()  # to the worker's own log

    def _own(self) -> Judge:
        if self._judge is None:
            self._judge = load(self._factory)
        return self._judge

    def close(self) -> None:
        """Close the judge."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def pid(self) -> int:
        """Return the process id of this worker."""
        return os.getpid()
