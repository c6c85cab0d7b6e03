"""The correctness and hidden gates: fresh inputs, a call in a candidate, and a look at what came back.

The judge draws inputs and holds the truth; the candidate sees the inputs of one call at a time. What it answers is a
claim: outputs are read from shared memory as plain bytes, and everything around them is checked by the judge itself.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import torch
from pydantic import ValidationError

from kernelarena.judge.arena import POISONS, Block, InputArena, OutputArena, Place, dtype_name, itemsize
from kernelarena.judge.reference import Outputs, Reference
from kernelarena.judge.session import Session, locate
from kernelarena.platforms import catalogue
from kernelarena.protocol.compile_events import TensorSpec
from kernelarena.protocol.failure import Failure, classify_call, locate_failure
from kernelarena.protocol.form import wrong_form
from kernelarena.protocol.tolerance import Comparison, Truth, compare, truth
from kernelarena.spec import Kernel, Location, Platform, Reason, Shape, TaskSource, Trial
from kernelarena.spec.base import Model

_REMEMBERED = 128  # truths; kernels of one task are judged on the same trials


@dataclass(frozen=True)
class Problem:
    """One drawn problem with its right answer."""

    shape: Shape
    inputs: dict[str, Any]
    truth: Truth
    expected: tuple[TensorSpec, ...]
    """The form of its outputs."""

    @property
    def expected_bytes(self) -> int:
        """Size of all outputs together."""
        return sum(math.prod(output.size) * itemsize(output.dtype) for output in self.expected)


class Problems:
    """Draws problems, and remembers those that the next kernel of the task will need too.

    Parameters
    ----------
    platform
        Where kernels run; it decides which flavour of a dtype inputs have.
    """

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.persona = platform if platform.persona is None else catalogue.load()[platform.persona]
        self._references: dict[str, Reference] = {}
        self._known: OrderedDict[tuple[str, Shape, int], Problem] = OrderedDict()

    def reference(self, task: TaskSource) -> Reference:
        """Return the task's reference, loaded once."""
        return self._references.setdefault(task.digest, Reference(task))

    def problem(self, task: TaskSource, shape: Shape, seed: int) -> Problem:
        """Return the problem that ``seed`` draws for ``shape``."""
        key = (task.digest, shape, seed)
        if key not in self._known:
            reference = self.reference(task)
            inputs = reference.draw(shape, self.platform, seed)
            answer = truth(reference.function, inputs, seed=seed)
            forms = tuple(TensorSpec(dtype=dtype_name(output.dtype), size=output.size) for output in answer.outputs)
            self._known[key] = Problem(shape, inputs, answer, forms)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


class _Returned(Model):
    """One output as the candidate describes it."""

    type: str = "Tensor"
    dtype: str = ""
    size: tuple[int, ...] = ()
    place: Place | None = None

    @property
    def form(self) -> TensorSpec | None:
        """What it is, if it is a tensor."""
        return TensorSpec(dtype=self.dtype, size=self.size) if self.type == "Tensor" else None


class _Answer(Model):
    """What the candidate claims about a call."""

    outputs: tuple[_Returned, ...]
    blocks: tuple[Block, ...]
    observed: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """What one call came to: nothing wrong, or a reason."""

    reason: Reason | None = None
    detail: str = ""
    location: Location | None = None
    error: float | None = None
    observed: dict[str, Any] = field(default_factory=dict)


class Examiner:
    """Runs trials of one kernel in one session.

    Parameters
    ----------
    session
        A candidate that has loaded the kernel.
    kernel
        The kernel.
    task
        What it should compute.
    problems
        Where inputs and truths come from.
    call_seconds
        Deadline of one call.
    """

    def __init__(
        self, session: Session, kernel: Kernel, task: TaskSource, problems: Problems, call_seconds: float
    ) -> None:
        self._session = session
        self._kernel = kernel
        self._task = task
        self._problems = problems
        self._seconds = call_seconds

    def trial(self, shape: Shape, seed: int, *, twice: bool = False) -> tuple[Trial, dict[str, Any]]:
        """Run one trial; also return what was observed of the host code.

        Parameters
        ----------
        shape
            The problem's shape.
        seed
            Draws its inputs.
        twice
            Whether to run it again on the same values with other garbage in uninitialised memory, so that reading it,
            or any other nondeterminism, shows.

        Raises
        ------
        CandidateEnded
            If the candidate crashed, hung or outgrew its quota.
        """
        problem = self._problems.problem(self._task, shape, seed)
        started = time.monotonic()
        first = self._call(problem, POISONS[0])
        seconds = time.monotonic() - started
        finding = first
        if first.reason is Reason.UNWRITTEN_OUTPUT or (twice and first.reason is None):
            finding = self._repeat(problem, first)
        return (
            Trial(
                shape=shape, passed=finding.reason is None, reason=finding.reason, detail=finding.detail,
                error=finding.error, seconds=round(seconds, 6), location=finding.location,
            ),
            first.observed,
        )  # fmt: skip

    def _repeat(self, problem: Problem, first: Finding) -> Finding:
        second = self._call(problem, POISONS[1])
        if first.reason is not None:
            if second.reason is first.reason:
                return first
            # A NaN that was read and computed with keeps its bits, and looks like one that was never replaced.
            return Finding(
                reason=Reason.NONDETERMINISTIC,
                detail="the answer depends on what happened to be in memory that the kernel allocated; it reads, or "
                "adds to, elements that it did not write",
                error=second.error,
            )
        if second.reason is None:
            return second
        if second.reason not in (Reason.MISMATCH, Reason.NON_FINITE, Reason.REDUCED_PRECISION):
            return second
        return Finding(
            reason=Reason.NONDETERMINISTIC,
            detail=f"the same inputs gave a right answer once and a wrong one the next time: {second.detail}; does it "
            "read memory that it did not write, or race?",
            error=second.error,
        )

    def _call(self, problem: Problem, poison: int) -> Finding:
        inputs = InputArena(problem.inputs)
        outputs = OutputArena(problem.expected_bytes, poison)
        try:
            message = {
                "do": "call",
                "arguments": [argument.model_dump() for argument in inputs.arguments],
                "fences": inputs.fences,
                "returned": outputs.returned,
                "poison": poison,
            }
            answer = self._session.ask(message, self._seconds, [inputs.file.descriptor, outputs.file.descriptor])
            try:
                return self._examine(problem, answer, inputs, outputs)
            except (ValidationError, ValueError, TypeError, KeyError) as error:
                detail = f"the kernel's process answered with something that is not an answer ({type(error).__name__})"
                return Finding(Reason.JUDGE_TAMPERING, detail)
        finally:
            inputs.close()
            outputs.close()

    def _examine(self, problem: Problem, message: dict[str, Any], inputs: InputArena, outputs: OutputArena) -> Finding:
        if "failed" in message:
            failure = Failure.model_validate(message["failed"])
            reason, detail = classify_call(failure)
            folder = self._session.folder
            location = locate_failure(failure, lambda path, line: locate(self._kernel, folder, path, line))
            return Finding(reason, detail, location)
        answer = _Answer.model_validate(message)
        if (overrun := outputs.overrun(answer.blocks)) is not None:
            return Finding(Reason.OUT_OF_BOUNDS_WRITE, f"{overrun}; is a store without a mask?")
        if (name := inputs.mutated()) is not None:
            return Finding(Reason.INPUT_MUTATED, f"input '{name}' was changed by the call; write to a new tensor")
        if (overrun := inputs.overrun()) is not None:
            return Finding(Reason.OUT_OF_BOUNDS_WRITE, f"{overrun}; is a store without a mask?")
        if (wrong := wrong_form([output.form for output in answer.outputs], problem.expected)) is not None:
            return Finding(*wrong)
        returned = tuple(_read(outputs, output) for output in answer.outputs)
        comparison = compare(problem.truth, returned, allow_reduced_precision=self._task.task.allow_reduced_precision)
        if comparison.passed:
            return Finding(error=comparison.error, observed=answer.observed)
        return _explain(comparison, returned, answer.observed, outputs.poison)


def _read(outputs: OutputArena, output: _Returned) -> torch.Tensor:
    if output.place is None:
        raise ValueError("an output of the right size was not returned")
    return outputs.file.tensor(output.place).clone()


def _explain(comparison: Comparison, returned: Outputs, observed: dict[str, Any], poison: int) -> Finding:
    """Tell an answer that was never written from one that is wrong."""
    unwritten = sum(_poisoned(output, poison) for output in returned)
    total = sum(output.numel() for output in returned)
    if unwritten:
        detail = f"{unwritten} of {total} output elements were never written; is the grid or the mask too small?"
        return Finding(Reason.UNWRITTEN_OUTPUT, detail, error=comparison.error, observed=observed)
    return Finding(comparison.reason, comparison.detail, error=comparison.error, observed=observed)


def _poisoned(output: torch.Tensor, poison: int) -> int:
    """Count the elements all of whose bytes are the poison."""
    if not output.numel():
        return 0
    raw = output.contiguous().view(torch.uint8).reshape(output.numel(), output.element_size())
    return int((raw == poison).all(dim=1).sum())


def trial_seed(hidden_seed: int, task: str, gate: str, index: int) -> int:
    """Return the seed of a trial's inputs: a function of the run's hidden seed that a kernel cannot know.

    It does not depend on the kernel, so that all kernels of a task face the same problems.
    """
    text = f"{hidden_seed}/{task}/{gate}/{index}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "little") >> 1
