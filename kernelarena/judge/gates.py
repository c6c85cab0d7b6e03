"""The correctness and hidden gates of one kernel in one candidate, wherever that runs kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from pydantic import ValidationError

from kernelarena.judge.answer import NO_ANSWER, acted
from kernelarena.judge.case import Case
from kernelarena.judge.correctness import MOST_CALLS, Examiner
from kernelarena.judge.laps import Laps
from kernelarena.judge.memory import Exchange, HostExchange, handed_over
from kernelarena.judge.outline import compile_job, position_in_place
from kernelarena.judge.problems import Problems
from kernelarena.judge.session import CandidateEnded, Session, line_of
from kernelarena.platforms.toolchains import built
from kernelarena.platforms.toolchains.built import Built
from kernelarena.protocol.compile_events import CallEnds, LoadFailed
from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.protocol.entry import EntryFault
from kernelarena.protocol.fallback import left_to_framework
from kernelarena.spec import (
    FamilyTally,
    Gate,
    Kernel,
    Language,
    Location,
    Reason,
    ReasonGroup,
    Shape,
    Status,
    Sweep,
    Tally,
    TaskSource,
    Trial,
)
from kernelarena.spec.platform import Budget

T = TypeVar("T")
_FATAL = (Reason.ILLEGAL_ACCESS, Reason.CRASH)
"""After these, told by an exception, the process may live on, but what it runs on does not."""


@dataclass(frozen=True)
class Venue:
    """Where trials take place.

    Attributes
    ----------
    problems
        Inputs and truths.
    exchange
        How tensors get to the candidate and back.
    late
        The reason of an answer that is given before the work is done.
    prepare
        What the candidate is told about it before it is given a kernel; nothing, where there is nothing to open.
    thorough
        Share of the shapes that are tried in all three calls, besides the first of each dtype. Which, nobody foresees.
    max_bytes
        Bytes that the tensors of one hidden shape may take; None: the protocol's own limit.
    budget
        What one trial may cost, where kernels are emulated.
    built
        What the toolchain has built already.
    alone
        Keeps others away while something is timed there.
    """

    problems: Problems
    exchange: Exchange = field(default_factory=HostExchange)
    late: Reason = Reason.DEFERRED_WORK
    prepare: dict[str, Any] = field(default_factory=dict)
    thorough: float = 0.0
    max_bytes: int | None = None
    budget: Budget | None = None
    built: Built = field(default_factory=dict)
    alone: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext


class GateFailed(Exception):
    """A gate that ends the cell before its trials do."""

    def __init__(self, gate: Gate, reason: Reason, detail: str, location: Any = None) -> None:
        super().__init__(detail)
        self.fields = {"gate": gate, "reason": reason, "detail": detail, "location": location}


def pass_gates(
    session: Session, venue: Venue, case: Case, timing: Callable[[], dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Run a kernel on visible and hidden shapes.

    Parameters
    ----------
    session
        A fresh candidate with the kernel's files.
    venue
        Where it runs.
    case
        What is judged.
    timing
        The timing gate, where there is one: returns fields of the verdict, with a ``status`` if the kernel fails it.

    Returns
    -------
    dict
        The fields of the verdict that the gates decide.
    """
    kernel, task, sweep = case.kernel, case.task, case.sweep
    visible, hidden = trial_shapes(venue, case)
    cell: dict[str, Any] = {}
    trials: list[Trial] = []
    laps = Laps()
    try:
        with laps.of("load"):
            load(session, kernel, task, venue, sweep)
        examiner = Examiner(
            session, kernel, task, venue.problems, sweep.deadlines.call, exchange=venue.exchange, late=venue.late
        )
        with contextlib.closing(examiner):
            for gate, shapes in ((Gate.CORRECTNESS, visible), (Gate.HIDDEN, hidden)):
                with laps.of(gate.value):
                    for trial in _gate(examiner, venue, gate, shapes, case):
                        trials.append(trial)
                        if trial.reason in _FATAL or _named(trial):
                            break
                if any(not trial.passed for trial in trials):
                    break
                if gate is Gate.CORRECTNESS and timing is not None:
                    examiner.close()
                    cell |= _alone(venue, timing, laps)
                if "status" in cell:
                    break
    except GateFailed as failed:
        cell |= {"status": Status.FAIL, **failed.fields}
    except CandidateEnded as end:
        ended = _rather_acted(end, session, kernel)
        gate = Gate.HIDDEN if len(trials) >= len(visible) else Gate.CORRECTNESS
        shape = [*visible, *hidden][len(trials)]
        detail = f"on {shape}: {ended.detail}"
        trials.append(
            Trial(shape=shape, passed=False, reason=ended.reason, detail=ended.detail, location=ended.location)
        )
        cell |= {
            "status": Status.FAIL, "gate": gate, "reason": ended.reason, "detail": detail, "location": ended.location,
        }  # fmt: skip
    if "status" not in cell:
        cell |= _outcome(trials, hidden_ran=bool(hidden), timed="timings" in cell)
    return cell | {
        "visible": _tally(visible, trials[: len(visible)]),
        "hidden": _by_family(hidden, trials[len(visible) :]),
        "trials": tuple(trials),
        "log": session.log() if cell["status"] is Status.FAIL else "",
        "durations": laps.seconds,
    }


def _alone(venue: Venue, timing: Callable[[], dict[str, Any]], laps: Laps) -> dict[str, Any]:
    with contextlib.ExitStack() as held:
        with laps.of("wait"):
            held.enter_context(venue.alone())
        with laps.of(Gate.TIMING.value):
            found = timing()
        with laps.of("wait"):  # for one of those who have waited meanwhile
            held.close()
    return found


def trial_shapes(venue: Venue, case: Case) -> tuple[list[Shape], list[Shape]]:
    """Return the visible and the hidden shapes of a cell."""
    budget, task, hidden = venue.budget, case.task.task, case.sweep.hidden
    visible = visible_trials(task, case.seed("visible"), budget=budget)
    if not hidden.enabled:
        return visible, []
    return visible, draw(task, case.seed("hidden"), hidden.count, budget=budget, max_bytes=venue.max_bytes)


class VenueUnready(Exception):
    """A candidate cannot use the place that kernels are to run in, whatever the kernel."""


def prepare(session: Session, venue: Venue, sweep: Sweep) -> Callable[[], None]:
    """Have a candidate open what it runs on, while nothing in it is the kernel's yet.

    Returns
    -------
    callable
        Waits until that is done: opening a device takes a third of a second, in which others can be asked.

    Raises
    ------
    VenueUnready
        If it cannot, now or when it is waited for.
    """

    def asked(ask: Callable[[], T]) -> T:
        try:
            return ask()
        except CandidateEnded as ended:
            raise VenueUnready(f"{ended.detail}, before it was given a kernel") from None

    def wait() -> None:
        answer = asked(lambda: session.answer(number, sweep.deadlines.call))
        if "unready" in answer:
            raise VenueUnready(str(answer["unready"]))

    if not venue.prepare:
        return lambda: None
    persona = venue.problems.persona.model_dump(mode="json")
    request = {"do": "prepare", "platform": persona, **venue.prepare}
    with handed_over(built.packed(venue.built, deflated=False)) as archive:
        number = asked(lambda: session.post(request, sweep.deadlines.call, [archive]))
    return wait


def load(
    session: Session,
    kernel: Kernel,
    task: TaskSource,
    venue: Venue,
    sweep: Sweep,
    prepared: Callable[[], None] | None = None,
) -> None:
    """Have a candidate load its kernel.

    Parameters
    ----------
    session, kernel, task, venue, sweep
        Who, what, and where.
    prepared
        Waits for it to have opened what it runs on; None: it is yet to be told to.

    Raises
    ------
    GateFailed
        If it does not load, or does not answer.
    VenueUnready
        If the candidate cannot use the place that it is to run in.
    """
    (prepared or prepare(session, venue, sweep))()
    request = {
        "do": "load",
        "file": kernel.file,
        "function": kernel.function,
        "in_place": position_in_place(task.task, venue.problems.names(task)),
        "platform": venue.problems.persona.model_dump(mode="json"),
    }
    if kernel.language.is_cpp:  # what its entry takes, and what it is built for
        request["job"] = compile_job(kernel, task, venue.problems.persona).model_dump(mode="json")
    try:
        answer = session.ask(request, sweep.deadlines.call)
    except CandidateEnded as end:
        ended = _rather_acted(end, session, kernel)
        reason = Reason.COMPILE_TIMEOUT if ended.reason is Reason.TIMEOUT else ended.reason
        raise GateFailed(Gate.COMPILE, reason, f"importing the kernel: {ended.detail}", ended.location) from None
    if (deed := acted(answer, lambda file, line: line_of(kernel, file, line))) is not None:
        assert deed.reason is not None
        raise GateFailed(Gate.COMPILE, deed.reason, deed.detail, deed.location)
    if "load-failed" in answer:
        try:
            failed = LoadFailed.model_validate(answer["load-failed"])
        except ValidationError:
            raise GateFailed(Gate.COMPILE, Reason.JUDGE_TAMPERING, NO_ANSWER) from None
        raise GateFailed(Gate.COMPILE, *_load_failure(kernel, failed))


def _rather_acted(ended: CandidateEnded, session: Session, kernel: Kernel) -> CandidateEnded:
    """Return what the kernel did before its process ended, if anything that no kernel has a reason for was noticed."""
    deed = acted({"acts": session.noticed}, lambda file, line: line_of(kernel, file, line))
    if deed is None:
        return ended
    assert deed.reason is not None
    return CandidateEnded(deed.reason, deed.detail, deed.location or ended.location)


def _load_failure(kernel: Kernel, failed: LoadFailed) -> tuple[Reason, str, Location | None]:
    reason = Reason.SYNTAX_ERROR if failed.fault is EntryFault.SYNTAX else Reason.IMPORT_ERROR
    where = None
    if failed.file is not None and failed.line is not None:
        where = line_of(kernel, failed.file, failed.line)
    return reason, failed.message, where


def _gate(examiner: Examiner, venue: Venue, gate: Gate, shapes: list[Shape], case: Case) -> Iterator[Trial]:
    """Run the trials of one gate; what host code did is looked at in each."""
    repeated: set[str] = set()
    launched = False
    for index, shape in enumerate(shapes):
        seed = case.seed(gate.value, index)
        thorough = shape.dtype not in repeated or Random(seed).random() < venue.thorough
        repeated.add(shape.dtype)
        trial, observed = examiner.trial(shape, seed, calls=case.sweep.calls or (MOST_CALLS if thorough else 1))
        # A wrong answer of a kernel that never launched anything is wrong because it launched nothing.
        idle = not launched and not any(call.get("launches") for call in observed)
        launched = launched or not idle
        if trial.passed or (idle and not _named(trial)):  # work that is put off launches late
            for call in observed:
                if (why := not_its_own(call, case.kernel, case.task, shape)) is not None:
                    raise GateFailed(Gate.COMPILE, *why)
        yield trial


def _named(trial: Trial) -> bool:
    """Whether a trial showed deceit: nothing that follows says more."""
    return trial.reason is not None and trial.reason.group is ReasonGroup.INTEGRITY


def not_its_own(observed: dict[str, Any], kernel: Kernel, task: TaskSource, shape: Shape) -> tuple[Reason, str] | None:
    """Return why what was observed of a call is not the kernel's own work, or None where it is."""
    if kernel.language is Language.TORCH or not task.task.computes:
        return None
    try:
        launches = int(observed["launches"])
        call = CallEnds.model_validate({**observed, "index": 0, "launches": [(0, launches)] if launches else []})
    except (KeyError, TypeError, ValueError):
        return Reason.JUDGE_TAMPERING, NO_ANSWER
    if (why := left_to_framework(call, task.task, shape)) is not None:
        return Reason.FRAMEWORK_FALLBACK, why
    return None if launches else (Reason.NO_DEVICE_KERNEL, "the entry launches no device kernel")


def _outcome(trials: list[Trial], *, hidden_ran: bool, timed: bool) -> dict[str, Any]:
    faults = [trial for trial in trials if not trial.passed]
    # What cannot be run says nothing of the kernel, so a fault of its own goes before it.
    faults.sort(key=lambda trial: trial.reason is Reason.EMULATOR_UNSUPPORTED)
    failed = next(iter(faults), None)
    if failed is None:
        last = Gate.HIDDEN if hidden_ran else Gate.TIMING if timed else Gate.CORRECTNESS
        return {"status": Status.PASS, "gate": last}
    hidden = failed.shape.family.value != "visible"
    return {
        "status": Status.FAIL,
        "gate": Gate.HIDDEN if hidden else Gate.CORRECTNESS,
        "reason": failed.reason,
        "detail": f"on {failed.shape}: {failed.detail}",
        "location": failed.location,
    }


def _tally(shapes: list[Shape], trials: list[Trial]) -> Tally:
    return Tally(passed=sum(trial.passed for trial in trials), total=len(shapes))


def _by_family(shapes: list[Shape], trials: list[Trial]) -> FamilyTally:
    families = list(dict.fromkeys(shape.family for shape in shapes))
    return FamilyTally(
        passed=sum(trial.passed for trial in trials),
        total=len(shapes),
        by_family={
            family: Tally(
                passed=sum(trial.passed for trial in trials if trial.shape.family is family),
                total=sum(shape.family is family for shape in shapes),
            )
            for family in families
        },
    )
