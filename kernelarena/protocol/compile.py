"""Decides the compile gate from what a candidate process reported. Runs in the trusted process and imports no torch.

Events are claims: whatever is not an event of the known form, or contradicts the job, is tampering.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from kernelarena.protocol.compile_events import (
    Arg,
    CallEnds,
    Failure,
    TensorSpec,
)
from kernelarena.protocol.compile_faults import compile_reason, host_reason
from kernelarena.protocol.compile_job import Call, CompileJob
from kernelarena.protocol.compile_story import Specialisation, Story, Tampered, tell
from kernelarena.protocol.entry import EntryFault
from kernelarena.protocol.fallback import left_to_framework, light_use
from kernelarena.protocol.form import wrong_form
from kernelarena.protocol.limits import ADVICE, CPP_ADVICE, excess, resources
from kernelarena.spec import Gate, Language, Launch, Location, Reason, Resources, Shape, Status, Tally, Task
from kernelarena.spec.base import Model

__all__ = ["Arg", "Call", "CompileJob", "Decision", "TensorSpec", "decide"]

_LOAD_REASONS = {
    EntryFault.SYNTAX: Reason.SYNTAX_ERROR,
    EntryFault.IMPORT: Reason.IMPORT_ERROR,
    EntryFault.MISSING: Reason.IMPORT_ERROR,
}
_MAX_NOTES = 20


class Decision(Model):
    """What the compile gate says of one cell: the part of a verdict that it knows."""

    status: Status
    gate: Gate = Gate.COMPILE
    """A wrong shape or dtype, which already shows here, belongs to the correctness gate."""
    reason: Reason | None = None
    detail: str = ""
    location: Location | None = None
    visible: Tally = Tally()
    """Calls that built and fitted, of all."""
    notes: tuple[str, ...] = ()
    launches: tuple[Launch, ...] = ()
    resources: Resources | None = None
    """Of the launch with the lowest occupancy."""
    log: str = ""
    sources: dict[str, str] = {}
    """Files from outside the kernel's folder that the result depends on, with their SHA-256."""


def decide(
    job: CompileJob,
    task: Task,
    events: Iterable[object],
    *,
    timed_out: bool = False,
    exit_code: int | None = None,
    log: str = "",
    deadline: float | None = None,
) -> Decision:
    """Return the compile gate's decision.

    Parameters
    ----------
    job
        What the process was asked.
    task
        The kernel's task, whose work model says how much the framework may do.
    events
        What it reported, as plain data.
    timed_out
        Whether it was ended on its deadline.
    exit_code
        How it ended: negative for a signal, None if it still ran.
    log
        The end of what it printed.
    deadline
        Seconds that it had, for the message.
    """
    try:
        story = tell(job, events)
    except (Tampered, ValidationError) as error:
        what = "an event of unknown form" if isinstance(error, ValidationError) else str(error)
        return _failed(job, Story(), Reason.JUDGE_TAMPERING, f"the kernel's process reported {what}", log=log)
    if timed_out:
        return _out_of_time(job, story, deadline, log)
    if (unit := _refused_unit(story)) is not None:
        return _not_built(job, story, unit, log)
    if story.load is not None:
        load = story.load
        if load.fault is EntryFault.UNANSWERED:
            where = _location(job, load.file, load.line)
            unanswered, nobodys = Status.SKIPPED, Reason.DEVICE_UNAVAILABLE
            return Decision(status=unanswered, reason=nobodys, detail=load.message, location=where, log=log)
        return _failed(job, story, _LOAD_REASONS[load.fault], load.message, (load.file, load.line), log=log)
    if story.ended is None:
        return _died(job, story, exit_code, log)
    for index, call in sorted(story.calls.items()):
        shape = job.calls[index].shape
        if call.failure is not None:
            return _raised(job, story, call.failure, shape, log)
    return _judge_calls(job, task, story, log)


def _refused_unit(story: Story) -> Specialisation | None:
    return next((known for known in story.specialisations.values() if known.begun.unit and known.refused), None)


def _not_built(job: CompileJob, story: Story, unit: Specialisation, log: str) -> Decision:
    """Decide on a file that did not compile, so that nothing of it could be called."""
    fault = _fault(job, unit)
    assert fault is not None
    return _failed(job, story, fault.reason, f"{_launch_name(unit)} {fault.detail}", fault.where, log=log)


def _judge_calls(job: CompileJob, task: Task, story: Story, log: str) -> Decision:
    """Every call returned: look at what was launched, by whom the work was done, and what came back."""
    spoilt = {number for number, known in story.specialisations.items() if _fault(job, known) is not None}
    for number in sorted(spoilt):
        known = story.specialisations[number]
        fault = _fault(job, known)
        if known.count and fault is not None:
            detail = f"{_launch_name(known)} {fault.detail}"
            return _failed(job, story, fault.reason, detail, fault.where, log=log, spoilt=spoilt)
    if job.kernel.language is not Language.TORCH and task.computes:
        for index, call in sorted(story.calls.items()):
            shape = job.calls[index].shape
            share = left_to_framework(call, task, shape)
            if share is not None:
                return _failed(
                    job, story, Reason.FRAMEWORK_FALLBACK, f"with {shape}, {share}", passed=0, log=log
                )  # fmt: skip
            if not call.launches:
                detail = f"with {shape}, the entry returns without launching a device kernel"
                return _failed(job, story, Reason.NO_DEVICE_KERNEL, detail, passed=0, log=log)
    wrong = {index: _wrong_output(job.calls[index], call) for index, call in sorted(story.calls.items())}
    for index, fault_of_output in wrong.items():
        if fault_of_output is not None:
            reason, said = fault_of_output
            right = sum(other is None for other in wrong.values())
            decision = _failed(job, story, reason, f"with {job.calls[index].shape}, {said}", passed=right, log=log)
            return decision.model_copy(update={"gate": Gate.CORRECTNESS})
    launches = _launches(job, story)
    assert story.ended is not None
    return Decision(
        status=Status.PASS,
        visible=Tally(passed=len(job.calls), total=len(job.calls)),
        notes=tuple(_notes(job, task, story))[:_MAX_NOTES],
        launches=launches,
        resources=_tightest(launches),
        log=log,
        sources=story.ended.sources,
    )


def _wrong_output(call: Call, end: CallEnds) -> tuple[Reason, str] | None:
    return None if call.outputs is None else wrong_form(end.outputs, call.outputs)


def _raised(job: CompileJob, story: Story, failure: Failure, shape: Shape, log: str) -> Decision:
    where = (failure.file, failure.line)
    if failure.resource == "memory":
        return _failed(job, story, Reason.OUT_OF_MEMORY, f"with {shape}, {failure.message}", where, log=log)
    known = story.specialisations.get(failure.number) if failure.number is not None else None
    if known is not None and (failure.resource is not None or failure.compiling):
        fault = _fault(job, known)
        if fault is None and failure.resource is not None:  # of a kind that only the toolchain knows a limit of
            fault = _Fault(Reason.RESOURCE_EXCEEDED, failure.message, (known.begun.file, known.begun.line))
        if fault is not None:
            printed = known.refused.log if known.refused is not None and known.refused.log else log
            detail = f"{_launch_name(known, shape)} {fault.detail}"
            return _failed(job, story, fault.reason, detail, fault.where, log=printed, spoilt={known.begun.number})
    reason, said = host_reason(failure.type, failure.message)
    return _failed(job, story, reason, f"with {shape}, {said}", where, log=log)


def _out_of_time(job: CompileJob, story: Story, deadline: float | None, log: str) -> Decision:
    within = "in time" if deadline is None else f"within {deadline:g} s"
    known = story.specialisations.get(story.compiling) if story.compiling is not None else None
    count = len(story.specialisations)
    if known is not None:
        detail = (
            f"the compile gate did not end {within}: it was at specialisation {count}, {_launch_name(known)}; "
            "compile fewer or smaller ones"
        )
        where = (known.begun.file, known.begun.line)
    elif story.current is not None:
        detail = f"host code did not return {within} from the call with {job.calls[story.current].shape}"
        where = (None, None)
    else:
        detail, where = f"the module was not imported {within}", (job.kernel.file, None)
    return _failed(job, story, Reason.COMPILE_TIMEOUT, detail, where, log=log)


def _died(job: CompileJob, story: Story, exit_code: int | None, log: str) -> Decision:
    ended = "ended unasked" if exit_code is None else _ending(exit_code)
    known = story.specialisations.get(story.compiling) if story.compiling is not None else None
    if known is not None:
        reason, said = compile_reason("", log)
        detail = f"{_launch_name(known)}: the compiler {ended}" + (f": {said}" if said else "")
        return _failed(job, story, reason, detail, (known.begun.file, known.begun.line), log=log)
    where = f"in the call with {job.calls[story.current].shape}" if story.current is not None else "during import"
    return _failed(job, story, Reason.CRASH, f"the kernel's process {ended} {where}", log=log)


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exited with code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def _failed(
    job: CompileJob,
    story: Story,
    reason: Reason,
    detail: str,
    where: tuple[str | None, int | None] = (None, None),
    *,
    log: str,
    passed: int | None = None,
    spoilt: frozenset[int] | set[int] = frozenset(),
) -> Decision:
    launches = _launches(job, story)
    if passed is None:
        passed = sum(call.failure is None for call in story.calls.values()) if not spoilt else _unspoilt(story, spoilt)
    return Decision(
        status=Status.FAIL,
        reason=reason,
        detail=detail,
        location=_location(job, *where),
        visible=Tally(passed=passed, total=len(job.calls)),
        launches=launches,
        resources=_tightest(launches),
        log=log,
        sources=story.ended.sources if story.ended is not None else {},
    )


def _unspoilt(story: Story, spoilt: frozenset[int] | set[int]) -> int:
    """Count the calls that returned without launching what does not fit."""
    return sum(
        call.failure is None and not any(number in spoilt for number, _ in call.launches)
        for call in story.calls.values()
    )


@dataclass(frozen=True)
class _Fault:
    """Why a specialisation cannot run on the platform."""

    reason: Reason
    detail: str
    """Continues the launch's name: ``needs …``, ``does not compile for …``."""
    where: tuple[str | None, int | None]


def _fault(job: CompileJob, known: Specialisation) -> _Fault | None:
    """Return why ``known`` cannot run, or None if it can."""
    where = (known.begun.file, known.begun.line)
    if known.refused is not None:
        refused = known.refused
        reason, said = compile_reason(refused.message, refused.log)
        return _Fault(reason, f"does not compile for {job.platform.id}: {said}", (refused.file, refused.line))
    if known.built is None:
        return None
    if known.built.complaint:
        reason, said = compile_reason(known.built.complaint)
        detail = f"does not compile for {job.platform.id}: {said} (the compiler leaves it out and goes on)"
        return _Fault(reason, detail, where)
    over = excess(job.platform, _resources(job, known))
    if over is None:
        return None
    advice = ADVICE if job.kernel.language in (Language.TRITON, Language.TORCH) else CPP_ADVICE
    return _Fault(Reason.RESOURCE_EXCEEDED, f"{over.sentence}; {advice[over.resource]}", where)


def _resources(job: CompileJob, known: Specialisation) -> Resources:
    built = known.built
    assert built is not None
    return resources(
        job.platform, warps=built.warps, stages=known.begun.stages, shared=built.shared, registers=built.registers,
        scalar_registers=built.scalar_registers, spills=built.spills, scratch=built.scratch,
    )  # fmt: skip


def _launches(job: CompileJob, story: Story) -> tuple[Launch, ...]:
    return tuple(_launch(job, known) for known in story.specialisations.values() if not known.begun.unit)


def _launch(job: CompileJob, known: Specialisation) -> Launch:
    fault = _fault(job, known)
    return Launch(
        kernel=known.begun.kernel,
        signature=known.begun.signature,
        grid=known.grid,
        count=known.count,
        shape=known.shape,
        resources=None if known.built is None else _resources(job, known),
        seconds=None if known.built is None else known.built.seconds,
        tuning=known.trial and not known.count,
        reason=None if fault is None else fault.reason,
        detail="" if fault is None else fault.detail,
        location=_location(job, *((known.begun.file, known.begun.line) if fault is None else fault.where)),
    )


def _launch_name(known: Specialisation, shape: Shape | None = None) -> str:
    shape = shape or known.shape
    return f"{known.begun.kernel} ({shape})" if shape is not None else known.begun.kernel


def _location(job: CompileJob, file: str | None, line: int | None) -> Location | None:
    """Return the line of the kernel's own source, with its text from our copy of it."""
    if file is None or line is None or file not in job.kernel.files:
        return None
    lines = job.kernel.files[file].splitlines()
    return Location(file=file, line=line, text=lines[line - 1].strip() if line <= len(lines) else "")


def _tightest(launches: tuple[Launch, ...]) -> Resources | None:
    used = [launch.resources for launch in launches if launch.count and launch.resources is not None]
    if not used:
        return None
    return min(used, key=lambda needs: (needs.occupancy if needs.occupancy is not None else 1.0, -needs.warps))


def _notes(job: CompileJob, task: Task, story: Story) -> Iterator[str]:
    """Yield what a reader should know of a kernel that passed."""
    trials: dict[str, list[Specialisation]] = {}
    for known in story.specialisations.values():
        if known.trial:
            trials.setdefault(known.begun.kernel, []).append(known)
    for kernel, group in trials.items():
        bad = [known for known in group if _fault(job, known) is not None]
        if bad:
            yield f"{kernel}: {len(bad)} of {len(group)} tuned specialisations do not run on {job.platform.id}"
        for known in bad:
            yield f"{kernel} [{known.begun.signature}, num_warps={known.begun.warps}]: {_launch(job, known).detail}"
    for known in story.specialisations.values():
        if not known.trial and not known.count and _fault(job, known) is not None:
            yield f"{_launch_name(known)}: host code went on without it: {_launch(job, known).detail}"
    spilling: dict[str, int] = {}
    for known in story.specialisations.values():
        if known.count and known.built is not None and known.built.spills:
            spilling[known.begun.kernel] = max(spilling.get(known.begun.kernel, 0), known.built.spills)
    for kernel, spills in spilling.items():
        yield f"{kernel} spills up to {spills} registers per thread to memory"
    if job.kernel.language is Language.TORCH:
        yield "framework code: the host code runs on this chip's answers, and nothing was compiled for it"
    else:
        operators = {name: use for call in story.calls.values() for name, use in call.operators.items()}
        note = light_use(operators, task)
        if note is not None:
            yield note
