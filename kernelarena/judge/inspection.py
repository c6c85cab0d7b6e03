"""Holds one answer of a candidate against the problem that it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kernelarena.judge.answer import Answer, Finding, Outputs, acted
from kernelarena.judge.arena import InputArena, OutputArena
from kernelarena.judge.problems import Problem
from kernelarena.judge.session import Session, line_compiled, line_of, locate
from kernelarena.protocol import distribution
from kernelarena.protocol.failure import Failure, classify_call, locate_failure
from kernelarena.protocol.form import wrong_form
from kernelarena.protocol.tolerance import Comparison, compare
from kernelarena.spec import Kernel, Location, Reason, TaskSource
from kernelarena.spec.task import Aspect


class Inspector:
    """Asks a candidate and looks at what comes back.

    Parameters
    ----------
    session
        The candidate.
    kernel
        What it runs.
    task
        What that should compute.
    seconds
        Deadline of one answer.
    """

    def __init__(self, session: Session, kernel: Kernel, task: TaskSource, seconds: float) -> None:
        self._session = session
        self._kernel = kernel
        self._task = task
        self._seconds = seconds

    def ask(self, request: dict[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises
        ------
        CandidateEnded
            If none came.
        """
        return self._session.ask(request, self._seconds, files)

    def refused(self, message: dict[str, Any]) -> Finding | None:
        """Return what makes an answer none: the kernel tampered, or it raised.

        Raises
        ------
        ValidationError
            If the answer has not its form.
        """
        if (deed := acted(message, self._line)) is not None:
            return deed
        if "failed" not in message:
            return None
        failure = Failure.model_validate(message["failed"])
        reason, detail = classify_call(failure)
        folder = self._session.folder
        location = None if failure.place is None else line_compiled(self._kernel, *failure.place)
        location = location or locate_failure(failure, lambda path, line: locate(self._kernel, folder, path, line))
        return Finding(reason, detail, location)

    def misplaced(self, answer: Answer, problem: Problem, inputs: InputArena, outputs: OutputArena) -> Finding | None:
        """Return what an answer did beside its outputs, or lacks of their form; None if nothing.

        Raises
        ------
        ValueError
            If the answer speaks of memory that there is not.
        """
        if answer.late:
            return Finding(Reason.DEFERRED_WORK, _LATE_LAUNCH, observed=answer.observed)
        if (overrun := outputs.overrun(answer.blocks)) is not None:
            return Finding(Reason.OUT_OF_BOUNDS_WRITE, f"{overrun}; is a store without a mask?")
        return self.disturbed(inputs) or self.malformed(answer, problem, answer.observed)

    def disturbed(self, inputs: InputArena) -> Finding | None:
        """Return what became of inputs and of the memory around them; None if nothing."""
        if (name := inputs.mutated()) is not None:
            return Finding(Reason.INPUT_MUTATED, f"input '{name}' was changed by the call; write to a new tensor")
        if (overrun := inputs.overrun()) is not None:
            return Finding(Reason.OUT_OF_BOUNDS_WRITE, f"{overrun}; is a store without a mask?")
        return None

    def malformed(self, answer: Outputs, problem: Problem, observed: dict[str, Any]) -> Finding | None:
        """Return what outputs lack of the form that they should have; None if nothing."""
        if (odd := next((output for output in answer.outputs if output.deferred), None)) is not None:
            return Finding(Reason.DEFERRED_WORK, _OWN_CLASS.format(odd.type), observed=observed)
        if (wrong := wrong_form(answer.forms, problem.expected)) is not None:
            return Finding(*wrong)
        return None

    def compare(self, problem: Problem, returned: Sequence[torch.Tensor]) -> Comparison:
        """Hold outputs against the truth."""
        if Aspect.VALUES not in self._task.task.contract:
            return Comparison(passed=True)
        if (law := self._task.task.law) is not None:
            return distribution.compare(law, problem.inputs, returned)
        allowed = self._task.task.allow_reduced_precision
        return compare(problem.truth, tuple(returned), allow_reduced_precision=allowed)

    def right(self, message: dict[str, Any], problem: Problem, outputs: OutputArena) -> bool:
        """Whether outputs that were described once more are right now.

        Raises
        ------
        ValueError
            If the answer has not its form, or speaks of memory that there is not.
        """
        later = Outputs.model_validate(message)
        if wrong_form(later.forms, problem.expected) is not None:
            return False
        return self.compare(problem, [output.read(outputs) for output in later.outputs]).passed

    def _line(self, file: str, line: int) -> Location | None:
        return line_of(self._kernel, file, line)


_LATE_LAUNCH = "kernels were launched after an earlier call had returned; finish the work before returning"
_OWN_CLASS = "it returns a '{}', a class of its own that may compute when it is looked at; return a plain tensor"


def explain(
    comparison: Comparison, returned: Sequence[torch.Tensor], observed: dict[str, Any], poison: int | None
) -> Finding:
    """Tell an answer that was never written from one that is wrong; without a poison, all of it counts as written."""
    unwritten = 0 if poison is None else sum(_poisoned(output, poison) for output in returned)
    total = sum(output.numel() for output in returned)
    if unwritten:
        detail = f"{unwritten} of {total} output elements were never written; is the grid or the mask too small?"
        return Finding(Reason.UNWRITTEN_OUTPUT, detail, error=comparison.error, observed=observed)
    return Finding(comparison.reason, comparison.detail, error=comparison.error, observed=observed)


def raw(output: torch.Tensor) -> torch.Tensor:
    """Return the bytes of a contiguous tensor."""
    return output.reshape(-1).view(torch.uint8)


def _poisoned(output: torch.Tensor, poison: int) -> int:
    """Count the elements all of whose bytes are the poison."""
    if not output.numel():
        return 0
    return int((raw(output).reshape(output.numel(), output.element_size()) == poison).all(dim=1).sum())
