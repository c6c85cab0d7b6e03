"""The correctness and hidden gates: fresh inputs, calls in a candidate, and a look at what came back.

The judge draws inputs and holds the truth; the candidate sees the inputs of one call at a time. What it answers is a
claim: outputs are read from shared memory as plain bytes, and everything around them is checked by the judge itself.

A shape is tried in up to three calls, each of which is checked, so that an answer that is kept is a wrong one:

1. fresh inputs at a fresh place;
2. the same but for a few rows, *at the same addresses*: whoever remembers pointers, shapes or some of the elements
   answers the first call again;
3. the first inputs at another place, under other garbage: reading what was not written, races, and answers that come
   out of memory without a launch show.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import replace
from typing import Any

import torch
from pydantic import ValidationError

from kernelarena.judge.answer import NO_ANSWER, Answer, Finding, Outputs, acted
from kernelarena.judge.arena import POISONS, InputArena, OutputArena
from kernelarena.judge.integrity.act import Act
from kernelarena.judge.memory import Exchange, HostExchange
from kernelarena.judge.problems import Problem, Problems
from kernelarena.judge.session import Session, line_of, locate
from kernelarena.protocol.failure import Failure, classify_call, locate_failure
from kernelarena.protocol.form import wrong_form
from kernelarena.protocol.tolerance import Comparison, compare
from kernelarena.spec import Kernel, Location, Reason, Shape, TaskSource, Trial

MOST_CALLS = 3
"""Calls of the entry that a shape is tried in."""
LATER = 0.3
"""Seconds after which a wrong answer is looked at once more, in case that it was only late."""
_WRONG = (Reason.MISMATCH, Reason.NON_FINITE, Reason.REDUCED_PRECISION, Reason.UNWRITTEN_OUTPUT)
_HELD = 1 << 20  # bytes; larger outputs are not remembered over shapes


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
    exchange
        How tensors get there and back.
    late
        The reason of an answer that becomes right after it was given.
    """

    def __init__(
        self,
        session: Session,
        kernel: Kernel,
        task: TaskSource,
        problems: Problems,
        call_seconds: float,
        *,
        exchange: Exchange | None = None,
        late: Reason = Reason.DEFERRED_WORK,
    ) -> None:
        self._session = session
        self._kernel = kernel
        self._task = task
        self._problems = problems
        self._seconds = call_seconds
        self._exchange = exchange or HostExchange()
        self._late = late
        self._sent: InputArena | None = None
        self._held: tuple[OutputArena, Outputs, list[torch.Tensor]] | None = None
        self._given: set[bytes] = set()
        self._waited = False
        self._spent = 0.0
        self._observed: list[dict[str, Any]] = []

    def close(self) -> None:
        """Give back the memory of the last call."""
        if self._held is not None:
            self._held[0].close()
            self._held = None

    def trial(self, shape: Shape, seed: int, *, calls: int = 1) -> tuple[Trial, list[dict[str, Any]]]:
        """Run one trial; also return what was observed of the host code in each call that returned.

        Parameters
        ----------
        shape
            The problem's shape.
        seed
            Draws its inputs.
        calls
            1: a single one. 2: the same inputs again, under other garbage. 3: other inputs at the same place between.

        Raises
        ------
        CandidateEnded
            If the candidate crashed, hung or outgrew its quota.
        """
        problem = self._problems.problem(self._task, shape, seed)
        place = InputArena(problem.inputs, self._exchange)
        try:
            self._spent, self._observed = 0.0, []
            first = self._call(problem, place, POISONS[0])
            finding = first
            if first.reason is Reason.UNWRITTEN_OUTPUT:
                finding = self._under_other_garbage(problem, first)
            elif first.reason is None and calls >= MOST_CALLS:
                finding = self._varied(shape, seed, place, first)
            if finding.reason is None and calls > 1:
                finding = self._repeated(problem, first)
        finally:
            self._sent = None
            place.close()
        return (
            Trial(
                shape=shape, passed=finding.reason is None, reason=finding.reason, detail=finding.detail,
                error=finding.error, seconds=round(self._spent, 6), location=finding.location,
            ),
            self._observed,
        )  # fmt: skip

    def _varied(self, shape: Shape, seed: int, place: InputArena, first: Finding) -> Finding:
        """Ask for other values at the same addresses; what is wrong now was right for the values before."""
        varied = self._problems.varied(self._task, shape, seed)
        place.write(varied.inputs)
        second = self._call(varied, place, POISONS[1])
        if second.reason not in _WRONG:
            return _launched(second, first)
        # A stage that holds inputs back does so at addresses that it knows.
        held_back = self._late is Reason.OFF_STREAM_WORK and self._call(varied, place, POISONS[1]).reason in _WRONG
        if self._elsewhere(varied, POISONS[0]).reason is None:
            return replace(second, reason=self._late, detail=_TOO_EARLY) if held_back else _unsteady(second)
        if self._elsewhere(self._problems.problem(self._task, shape, seed), POISONS[0]).reason is not None:
            why = "the kernel is right when it is first called, and wrong from then on"
            return replace(second, reason=Reason.NONDETERMINISTIC, detail=f"{why}: {second.detail}")
        return second

    def _repeated(self, problem: Problem, first: Finding) -> Finding:
        """Ask the same at another place, under other garbage."""
        again = self._elsewhere(problem, POISONS[1])
        if again.reason in (Reason.MISMATCH, Reason.NON_FINITE, Reason.REDUCED_PRECISION):
            return _unsteady(again)
        return _launched(again, first)

    def _under_other_garbage(self, problem: Problem, first: Finding) -> Finding:
        second = self._elsewhere(problem, POISONS[1])
        if second.reason is first.reason or second.reason is Reason.CACHED_RESULT:
            return first
        # A NaN that was read and computed with keeps its bits, and looks like one that was never replaced.
        return Finding(
            reason=Reason.NONDETERMINISTIC,
            detail="the answer depends on what happened to be in memory that the kernel allocated; it reads, or "
            "adds to, elements that it did not write",
            error=second.error,
        )

    def _elsewhere(self, problem: Problem, poison: int) -> Finding:
        place = InputArena(problem.inputs, self._exchange)
        try:
            return self._call(problem, place, poison)
        finally:
            self._sent = None
            place.close()

    def _call(self, problem: Problem, inputs: InputArena, poison: int) -> Finding:
        outputs = OutputArena(problem.expected_bytes, poison, self._exchange)
        keep = False
        try:
            message = {
                "do": "call",
                "arguments": [argument.model_dump() for argument in inputs.arguments],
                "inputs": id(inputs),
                "fences": inputs.fences,
                "returned": outputs.returned,
                "poison": poison,
            }
            files = [outputs.memory.descriptor]
            if self._sent is not inputs:
                files, self._sent = [inputs.memory.descriptor, *files], inputs
            answer = self._ask(message, files)
            if (deed := acted(answer, self._line)) is not None:
                return deed
            inputs.memory.fetch()
            outputs.memory.fetch()
            try:
                finding, held = self._examine(problem, answer, inputs, outputs)
            except (ValidationError, ValueError, TypeError, KeyError) as error:
                return Finding(Reason.JUDGE_TAMPERING, f"{NO_ANSWER} ({type(error).__name__})")
            if held is not None:
                changed = self._changed()
                self.close()
                self._held, keep = held, True
                if changed and finding.reason is None:
                    return Finding(Reason.CACHED_RESULT, _SAME_MEMORY, observed=finding.observed)
            return finding
        finally:
            if not keep:
                outputs.close()

    def _line(self, file: str, line: int) -> Location | None:
        return line_of(self._kernel, file, line)

    def _ask(self, message: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Ask, with a number that only the answer to this very request can carry."""
        name = secrets.token_hex(8)
        answer = self._session.ask({**message, "id": name}, self._seconds, files)
        return answer if answer.get("id") == name else {"forged": True}

    def _examine(
        self, problem: Problem, message: dict[str, Any], inputs: InputArena, outputs: OutputArena
    ) -> tuple[Finding, tuple[OutputArena, Outputs, list[torch.Tensor]] | None]:
        """Return what is wrong with an answer, and the outputs that must not change any more."""
        if "failed" in message:
            failure = Failure.model_validate(message["failed"])
            reason, detail = classify_call(failure)
            folder = self._session.folder
            location = locate_failure(failure, lambda path, line: locate(self._kernel, folder, path, line))
            return Finding(reason, detail, location), None
        answer = Answer.model_validate(message)
        self._spent += answer.seconds
        self._observed.append(answer.observed)
        if answer.acts:
            return self._noticed(answer.acts[0]), None
        if (overrun := outputs.overrun(answer.blocks)) is not None:
            return Finding(Reason.OUT_OF_BOUNDS_WRITE, f"{overrun}; is a store without a mask?"), None
        if (name := inputs.mutated()) is not None:
            return Finding(Reason.INPUT_MUTATED, f"input '{name}' was changed by the call; write to a new tensor"), None
        if (overrun := inputs.overrun()) is not None:
            return Finding(Reason.OUT_OF_BOUNDS_WRITE, f"{overrun}; is a store without a mask?"), None
        if (odd := next((output for output in answer.outputs if output.deferred), None)) is not None:
            return Finding(Reason.DEFERRED_WORK, _OWN_CLASS.format(odd.type), observed=answer.observed), None
        if (wrong := wrong_form(answer.forms, problem.expected)) is not None:
            return Finding(*wrong), None
        returned = [output.read(outputs) for output in answer.outputs]
        comparison = self._compare(problem, returned)
        seen = {form_digest(output) for output in returned if output.numel() * output.element_size() <= _HELD}
        known = (bool(seen) and seen <= self._given) or (not comparison.passed and self._as_before(returned))
        self._given |= seen
        if comparison.passed:
            return Finding(error=comparison.error, observed=answer.observed), (outputs, answer, returned)
        finding = _explain(comparison, returned, answer.observed, outputs.poison)
        if self._becomes_right(problem, outputs):
            return replace(finding, reason=self._late, detail=_LATE), None
        if known and finding.reason in _WRONG:
            return replace(finding, reason=Reason.CACHED_RESULT, detail=_EARLIER), None
        return finding, None

    def _noticed(self, act: Act) -> Finding:
        location = line_of(self._kernel, act.file, act.line) if act.line is not None else None
        return Finding(act.reason, act.detail, location)

    def _as_before(self, returned: list[torch.Tensor]) -> bool:
        """Whether outputs are those of the call before, bit by bit; of any size."""
        if self._held is None:
            return False
        before = self._held[2]
        return len(before) == len(returned) and all(
            kept.shape == now.shape and torch.equal(_bytes(kept), _bytes(now))
            for kept, now in zip(before, returned, strict=True)
        )

    def _compare(self, problem: Problem, returned: list[torch.Tensor]) -> Comparison:
        allowed = self._task.task.allow_reduced_precision
        return compare(problem.truth, tuple(returned), allow_reduced_precision=allowed)

    def _becomes_right(self, problem: Problem, outputs: OutputArena) -> bool:
        """Whether outputs that are wrong are right a moment later. Asked once per kernel: it costs that moment."""
        if self._waited:
            return False
        self._waited = True
        time.sleep(LATER)
        message = self._ask({"do": "again"}, [])
        outputs.memory.fetch()
        try:
            later = Outputs.model_validate(message)
            if wrong_form(later.forms, problem.expected) is not None:
                return False
            return self._compare(problem, [output.read(outputs) for output in later.outputs]).passed
        except (ValidationError, ValueError):
            return False

    def _changed(self) -> bool:
        """Whether outputs of the call before, which somebody may still hold, are no longer what they were."""
        if self._held is None:
            return False
        arena, answer, before = self._held
        arena.memory.fetch()
        return any(
            not torch.equal(_bytes(output.read(arena)), _bytes(kept))
            for output, kept in zip(answer.outputs, before, strict=True)
        )


_SAME_MEMORY = (
    "the result of one call changed when the kernel was called again: it returns memory that it keeps; "
    "allocate the output in each call"
)
_OWN_CLASS = "it returns a '{}', a class of its own that may compute when it is looked at; return a plain tensor"
_TOO_EARLY = (
    "the answer is wrong when the inputs arrive on the caller's stream a moment after the call: something runs on a "
    "stream that does not wait for the caller's; launch on the current stream, or have the other one wait for it"
)
_EARLIER = "it returned the answer to inputs that it was given before; compute every call's answer from its inputs"
_LATE = "the answer was wrong when the call returned and right a moment later; finish the work before returning"
_FROM_MEMORY = (
    "asked the same question again, it answered without launching anything; compute every call's answer from its inputs"
)


def _unsteady(wrong: Finding) -> Finding:
    return replace(
        wrong,
        reason=Reason.NONDETERMINISTIC,
        detail=f"the same inputs gave a right answer once and a wrong one the next time: {wrong.detail}; does it "
        "read memory that it did not write, or race?",
    )


def _launched(finding: Finding, first: Finding) -> Finding:
    """Hold a right answer against whether anything was launched for it, as was for the first."""
    if finding.reason is None and first.launches and finding.launches == 0:
        return replace(finding, reason=Reason.CACHED_RESULT, detail=_FROM_MEMORY)
    return finding


def _explain(comparison: Comparison, returned: list[torch.Tensor], observed: dict[str, Any], poison: int) -> Finding:
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
    return int((_bytes(output).reshape(output.numel(), output.element_size()) == poison).all(dim=1).sum())


def _bytes(output: torch.Tensor) -> torch.Tensor:
    return output.reshape(-1).view(torch.uint8)


def form_digest(output: torch.Tensor) -> bytes:
    """Return what tells an output from every other one: a digest of its form and its bytes."""
    form = f"{output.dtype}{list(output.shape)}".encode()
    return hashlib.sha256(form + _bytes(output).cpu().numpy().tobytes()).digest()
