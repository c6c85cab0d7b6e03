"""Reads the corpus of cheats and has the real judge judge it: each cheat, and then its honest twin.

The judge is one for all, so that what a cheat leaves behind would help the kernels after it, if anything did.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from kernelarena.errors import InputError
from kernelarena.judge import Judge
from kernelarena.spec import (
    Deadlines,
    Hidden,
    Kernel,
    Language,
    Platform,
    Reason,
    Status,
    Sweep,
    TaskSource,
    Verdict,
)
from kernelarena.spec.base import Identifier, Model, StrEnum
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.sweep import Timing
from kernelarena.spec.yamlfile import read

CHEATS = Path(__file__).parent / "cheats"
COMMON = CHEATS / "common"
SEED = 3
SWEEP = Sweep(
    hidden=Hidden(count=2), deadlines=Deadlines(call=10), cache=False, timing=Timing(enabled=False, seconds=0.05)
)
"""Few hidden shapes: the corpus is about how kernels are called, not about what they are called with."""
TIMED = ("caching", "clocks", "phases", "streams-and-deferral")
"""Groups with cheats that may be honest until they are timed; the others must be caught before."""
_BUDGET = {"elements": 2048, "outer": 16}
"""Of a trial on a platform that has one: less than it allows, for the same reason."""


class Where(StrEnum):
    """What a cheat needs to be tried."""

    CPU = "cpu"
    """Triton's interpreter."""
    DEVICE = "device"
    """A chip that kernels run on here: streams, events, graphs, caches."""


class Cheat(Model):
    """``cheat.yaml``."""

    kind: str
    """The sort of deceit, as the table shows it."""
    story: str
    """What it does, in a sentence."""
    fools: str
    """The naive check that would believe it."""
    task: Identifier
    language: Language = Language.TRITON
    entry: str | None = None
    """The callable in ``cheat.py`` and ``honest.py``; named like the task if absent."""
    reasons: Annotated[tuple[Reason, ...], Field(min_length=1)]
    """The reasons that name it, best first."""
    platforms: Annotated[tuple[Where, ...], Field(min_length=1)] = (Where.CPU,)


@dataclass(frozen=True)
class Specimen:
    """A cheat with its honest twin.

    Attributes
    ----------
    name
        ``group/name``: its folder in the corpus.
    about
        What its author says of it.
    cheat, honest
        The two kernels, which do not know what they are called here.
    """

    name: str
    about: Cheat
    cheat: Kernel
    honest: Kernel

    @property
    def group(self) -> str:
        """Its kind, as the corpus is sorted."""
        return self.name.partition("/")[0]

    def suits(self, platform: Platform) -> bool:
        """Return whether it can be tried on ``platform``."""
        return (Where.CPU if platform.budget is not None else Where.DEVICE) in self.about.platforms


def specimens(pattern: str = "*") -> list[Specimen]:
    """Read the corpus.

    Parameters
    ----------
    pattern
        A shell pattern for ``group/name``, or a part of it.

    Raises
    ------
    InputError
        If a folder lacks a file, or ``cheat.yaml`` is wrong.
    """
    found = (_read(manifest.parent) for manifest in sorted(CHEATS.glob("*/*/cheat.yaml")))
    return [one for one in found if pattern in one.name or fnmatch.fnmatch(one.name, pattern)]


def _read(folder: Path) -> Specimen:
    name = folder.relative_to(CHEATS).as_posix()
    about = read(folder / "cheat.yaml", Cheat)
    if about.task not in load():
        raise InputError(f"{folder / 'cheat.yaml'}: task: unknown task '{about.task}'")
    return Specimen(name, about, *(_kernel(folder, name, about, which) for which in ("cheat", "honest")))


def _kernel(folder: Path, name: str, about: Cheat, which: str) -> Kernel:
    source = folder / f"{which}.py"
    if not source.is_file():
        raise InputError(f"{source}: no such file; a cheat and its honest twin stand side by side")
    shared = {path.name: path.read_text("utf-8") for path in sorted(COMMON.glob("*.py"))}
    return Kernel(
        id=f"{name.replace('/', '.')}.{which}", task=about.task, language=about.language, file="kernel.py",
        function=about.entry or about.task, files=shared | {"kernel.py": source.read_text("utf-8")}, origin=str(source),
    )  # fmt: skip


@cache
def load() -> dict[str, TaskSource]:
    """Return the shipped tasks."""
    return load_tasks()


@dataclass(frozen=True)
class Outcome:
    """What the judge made of a specimen."""

    specimen: Specimen
    cheat: Verdict
    honest: Verdict

    @property
    def caught(self) -> bool:
        """Whether the cheat failed, for a reason that names it."""
        return self.cheat.status is Status.FAIL and self.cheat.reason in self.specimen.about.reasons

    @property
    def good(self) -> bool:
        """Whether the cheat was caught and its twin was not."""
        return self.caught and self.honest.status is Status.PASS

    @property
    def trouble(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        for verdict in (self.cheat, self.honest):
            if verdict.status not in (Status.PASS, Status.FAIL):
                return f"{verdict.kernel} was not judged: {verdict.detail}"
        if self.cheat.status is Status.PASS:
            return f"the cheat passes: {self.specimen.about.story}"
        if not self.caught:
            wanted = " or ".join(self.specimen.about.reasons)
            return f"the cheat gets {self.cheat.reason} for {wanted}: {self.cheat.detail}"
        if self.honest.status is not Status.PASS:
            return f"the honest twin gets {self.honest.reason}: {self.honest.detail}"
        return ""


def judged(judge: Judge, found: list[Specimen], platform: Platform, seed: int = SEED) -> Iterator[Outcome]:
    """Judge each specimen in turn, its twin right after it."""
    platform = small_platform(platform)
    for one in found:
        task = small_task(load()[one.about.task])
        sweep = SWEEP.model_copy(update={"timing": SWEEP.timing.model_copy(update={"enabled": one.group in TIMED})})
        cheat, honest = (judge.judge(kernel, task, platform, sweep, seed) for kernel in (one.cheat, one.honest))
        yield Outcome(one, cheat, honest)


def small_platform(platform: Platform) -> Platform:
    """Return ``platform`` with a budget that makes trials short, if it has one at all."""
    if platform.budget is None:
        return platform
    return platform.model_copy(update={"budget": platform.budget.model_copy(update=_BUDGET)})


def small_task(source: TaskSource) -> TaskSource:
    """Return a task with two of its published shapes, dtypes and distributions: what is caught there is caught."""
    task = source.task
    few = {
        "visible": (task.visible[0], task.visible[-1]),
        "dtypes": task.dtypes[:2],
        "distributions": task.distributions[:2],
    }
    return source.model_copy(update={"task": task.model_copy(update=few)})
