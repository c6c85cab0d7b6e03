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
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from pydantic import ValidationError

from kernelarena.judge.answer import NO_ANSWER, Answer, Finding, Outputs, Returned
from kernelarena.judge.arena import POISONS, InputArena, OutputArena
from kernelarena.judge.inspection import Inspector, explain, raw
from kernelarena.judge.memory import Exchange, HostExchange
from kernelarena.judge.problems import Problem, Problems, another_seed
from kernelarena.judge.recollection import kept_inputs, partly_before, prepared, reads_less, same, says_something
from kernelarena.judge.sampling import sampled
from kernelarena.judge.session import Session
from kernelarena.platforms.persona.digest import of_elements
from kernelarena.spec import Kernel, Reason, Shape, TaskSource, Trial
from kernelarena.spec.law import Law

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
        self.inspector = Inspector(session, kernel, task, call_seconds)
        self._task = task
        self._problems = problems
        self._exchange = exchange or HostExchange()
        self._late = late
        self._sent: InputArena | None = None
        self._held: tuple[OutputArena, Outputs, list[torch.Tensor]] | None = None
        self._given: set[bytes] = set()
        self._waited = False
        self._asked = False
        self._last: list[torch.Tensor] = []
        self._written = Finding()
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
        place = self._place(problem)
        try:
            self._spent, self._observed = 0.0, []
            first = self._call(problem, place, POISONS[0])
            if self._task.task.law is None:
                finding = self._computed(problem, seed, place, first, calls)
            else:
                finding = self._drawn(self._task.task.law, problem, seed, first, calls)
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

    def _computed(self, problem: Problem, seed: int, place: InputArena, first: Finding, calls: int) -> Finding:
        """Ask on, where there is one right answer."""
        if first.reason in (Reason.UNWRITTEN_OUTPUT, Reason.NON_FINITE):  # garbage, or computed from it
            return self._under_other_garbage(problem, first)
        if first.reason in _WRONG:
            return self._whatever_is_asked(problem.shape, seed, place, first)
        finding = second = first
        if first.reason is None and calls >= MOST_CALLS:
            finding = second = self._varied(problem.shape, seed, place, first)
        if finding.reason is None and calls > 1:
            finding = self._repeated(problem, seed, first, second)
        return finding

    def _drawn(self, law: Law, problem: Problem, seed: int, first: Finding, calls: int) -> Finding:
        """Ask on, where answers are random."""

        def ask(problem: Problem) -> tuple[Finding, list[torch.Tensor]]:
            found = self._elsewhere(problem, POISONS[1])
            return found, self._last

        if first.reason is not None or calls == 1:
            return first
        other = self._problems.problem(self._task, problem.shape, another_seed(seed))
        return sampled(law, first, self._last, problem, other, ask)

    def _varied(self, shape: Shape, seed: int, place: InputArena, first: Finding) -> Finding:
        """Ask for other values at the same addresses; what is wrong now was right for the values before."""
        varied = self._problems.varied(self._task, shape, seed)
        place.write(varied.inputs)
        second = self._call(varied, place, POISONS[1], delayed=True)
        if second.reason is None and prepared(varied, first.tables, second.tables):
            return replace(second, reason=Reason.FRAMEWORK_FALLBACK, detail=_PREPARED)
        if second.reason not in _WRONG:
            return _launched(second, first)
        if self._late is Reason.OFF_STREAM_WORK and self._call(varied, place, POISONS[1]).reason in (None, self._late):
            return replace(second, reason=self._late, detail=_TOO_EARLY)  # in time, or seen to be late once more
        if stale := self._kept_inputs(shape, seed, self._problems.problem(self._task, shape, seed), varied):
            return replace(second, reason=Reason.CACHED_RESULT, detail=_KEPT_INPUT.format(stale))
        if self._elsewhere(varied, POISONS[0]).reason is None:
            return _unsteady(second)
        if self._elsewhere(self._problems.problem(self._task, shape, seed), POISONS[0]).reason is not None:
            why = "the kernel is right when it is first called, and wrong from then on"
            return replace(second, reason=Reason.NONDETERMINISTIC, detail=f"{why}: {second.detail}")
        return second

    def _kept_inputs(self, shape: Shape, seed: int, before: Problem, asked: Problem) -> str:
        """Return the inputs that the last answer, a wrong one, takes from the question before."""
        return kept_inputs(
            before, asked, self._last, lambda inputs: self._problems.posed(self._task, shape, inputs, seed), self._right
        )

    def _whatever_is_asked(self, shape: Shape, seed: int, place: InputArena, first: Finding) -> Finding:
        """Tell a wrong answer that was known before the question from others. Asked once per kernel."""
        before, asked, self._asked = self._last, self._asked, True
        if asked or not says_something(before):
            return first
        other = self._problems.problem(self._task, shape, another_seed(seed))
        place.write(other.inputs)
        self._call(other, place, POISONS[0])
        return replace(first, reason=Reason.CACHED_RESULT, detail=_ANY) if same(before, self._last) else first

    def _repeated(self, problem: Problem, seed: int, first: Finding, second: Finding) -> Finding:
        """Ask the same at another place, under other garbage."""
        again = self._elsewhere(problem, POISONS[1])
        if again.reason in (Reason.MISMATCH, Reason.NON_FINITE, Reason.REDUCED_PRECISION):
            if second is not first:
                varied = self._problems.varied(self._task, problem.shape, seed)
                if stale := self._kept_inputs(problem.shape, seed, varied, problem):
                    return replace(again, reason=Reason.CACHED_RESULT, detail=_KEPT_INPUT.format(stale))
            return _unsteady(again)
        # What is launched once, to prepare something, is launched in the first call alone.
        if again.reason is None and set(_kernels(second)) > set(_kernels(again)):
            return replace(again, reason=Reason.CACHED_RESULT, detail=_FEWER)
        if again.reason is None and second is not first and reads_less(again.loads, first.loads, second.loads):
            return replace(again, reason=Reason.CACHED_RESULT, detail=_UNREAD)
        return _launched(again, first)

    def _under_other_garbage(self, problem: Problem, first: Finding) -> Finding:
        before, written = self._last, self._written
        second = self._elsewhere(problem, POISONS[1])
        if first.reason is Reason.UNWRITTEN_OUTPUT and same(before, self._last):
            return written  # whatever was there before: numbers of one byte may look like the garbage
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
        place = self._place(problem)
        try:
            return self._call(problem, place, poison)
        finally:
            self._sent = None
            place.close()

    def _place(self, problem: Problem) -> InputArena:
        return InputArena(problem.inputs, self._exchange, changing=self._task.task.in_place)

    def _call(self, problem: Problem, inputs: InputArena, poison: int, *, delayed: bool = False) -> Finding:
        outputs = OutputArena(problem.expected_bytes, poison, self._exchange)
        keep, self._last = False, []
        if self._sent is inputs:
            inputs.renew()
        try:
            message = {
                "do": "call",
                "arguments": [argument.model_dump() for argument in inputs.arguments],
                "inputs": id(inputs),
                "fences": inputs.fences,
                "returned": outputs.returned,
                "outputs": [output.model_dump() for output in problem.expected],
                "poison": poison,
                "held": delayed,
            }
            files = [outputs.memory.descriptor]
            if self._sent is not inputs:
                files, self._sent = [inputs.memory.descriptor, *files], inputs
            answer = self.inspector.ask(message, files)
            try:
                if (refused := self.inspector.refused(answer)) is not None:
                    return refused
                inputs.memory.fetch()
                outputs.memory.fetch()
                finding, held = self._examine(problem, Answer.model_validate(answer), inputs, outputs)
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

    def _examine(
        self, problem: Problem, answer: Answer, inputs: InputArena, outputs: OutputArena
    ) -> tuple[Finding, tuple[OutputArena, Outputs, list[torch.Tensor]] | None]:
        """Return what is wrong with an answer, and the outputs that must not change any more."""
        self._spent += answer.seconds
        self._observed.append(answer.observed)
        if (finding := self.inspector.misplaced(answer, problem, inputs, outputs)) is not None:
            return finding, None
        returned = self._last = self._read(answer, inputs, outputs)
        comparison = self.inspector.compare(problem, returned)
        seen = {form_digest(output) for output in returned if output.numel() * output.element_size() <= _HELD}
        known = bool(seen) and seen <= self._given
        self._given |= seen
        if comparison.passed and any(answer.observed.get("kept", ())):
            return Finding(Reason.CACHED_RESULT, _SAME_MEMORY, observed=answer.observed), None
        if comparison.passed and any(map(_changed_since, answer.outputs, returned)):
            return Finding(Reason.DEFERRED_WORK, _LATE_WRITE, observed=answer.observed), None
        if comparison.passed:
            right = Finding(error=comparison.error, observed=answer.observed, loads=answer.loads, tables=answer.tables)
            return right, (outputs, answer, returned)
        finding = explain(comparison, returned, answer.observed, outputs.poison)
        self._written = explain(comparison, returned, answer.observed, None)
        if self._becomes_right(problem, outputs):
            return replace(finding, reason=self._late, detail=_LATE), None
        before = [] if self._held is None else self._held[2]
        if known or same(before, returned) or partly_before(problem, returned, before, self._right):
            return replace(finding, reason=Reason.CACHED_RESULT, detail=_EARLIER), None
        return finding, None

    def _read(self, answer: Answer, inputs: InputArena, outputs: OutputArena) -> list[torch.Tensor]:
        """Return what the outputs hold, read where the operator was to write them."""
        changed = inputs.changed()
        return [output.read(outputs) for output in answer.outputs] if changed is None else [changed]

    def _right(self, problem: Problem, returned: Sequence[torch.Tensor]) -> bool:
        return self.inspector.compare(problem, returned).passed

    def _becomes_right(self, problem: Problem, outputs: OutputArena) -> bool:
        """Whether outputs that are wrong are right a moment later. Asked once per kernel: it costs that moment."""
        if self._waited:
            return False
        self._waited = True
        time.sleep(LATER)
        message = self.inspector.ask({"do": "again"})
        outputs.memory.fetch()
        try:
            return self.inspector.right(message, problem, outputs)
        except (ValidationError, ValueError):
            return False

    def _changed(self) -> bool:
        """Whether outputs of the call before, which somebody may still hold, are no longer what they were."""
        if self._held is None:
            return False
        arena, answer, before = self._held
        arena.memory.fetch()
        return any(
            not torch.equal(raw(output.read(arena)), raw(kept))
            for output, kept in zip(answer.outputs, before, strict=True)
        )


_SAME_MEMORY = (
    "the result of one call changed when the kernel was called again: it returns memory that it keeps; "
    "allocate the output in each call"
)
_TOO_EARLY = (
    "the answer is wrong when the inputs arrive on the caller's stream a moment after the call: something runs on a "
    "stream that does not wait for the caller's; launch on the current stream, or have the other one wait for it"
)
_EARLIER = "it returned the answer to inputs that it was given before; compute every call's answer from its inputs"
_KEPT_INPUT = (
    "it answered with input {} as it was in an earlier call; do not keep what follows from inputs from call to call"
)
_ANY = "it gives the same answer whatever it is asked; compute every call's answer from its inputs"
_FEWER = (
    "asked the same question again, it launched less than for another one; compute every call's answer from its inputs"
)
_PREPARED = (
    "host code makes as many numbers as there are in the answer, other ones for other inputs, and kernels read them; "
    "have the kernels compute them"
)
_UNREAD = (
    "asked the same question again, its kernels read far less of the inputs than for another one; compute every call's "
    "answer from its inputs"
)
_LATE_WRITE = "the output was still written to when the call had returned; finish the work before returning"
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
    computed = finding.observed.get("operators")  # by the framework: that has a name of its own
    if finding.reason is None and first.launches and finding.launches == 0 and not computed:
        return replace(finding, reason=Reason.CACHED_RESULT, detail=_FROM_MEMORY)
    return finding


def _kernels(finding: Finding) -> Sequence[str]:
    """Return the device functions that a call launched, as far as the candidate says so."""
    names = finding.observed.get("kernels", ())
    return [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else ()


def _changed_since(output: Returned, read: torch.Tensor) -> bool:
    """Whether an output, as it was read, is not what the call left behind, as far as the candidate says so."""
    return bool(output.digest) and output.digest != (of_elements(read) or b"").hex()


def form_digest(output: torch.Tensor) -> bytes:
    """Return what tells an output from every other one: a digest of its form and its bytes."""
    form = f"{output.dtype}{list(output.shape)}".encode()
    return hashlib.sha256(form + raw(output).cpu().numpy().tobytes()).digest()
