"""Puts the events of a candidate process together into what happened, and refuses what cannot have happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelarena.protocol.compile_events import (
    CallBegins,
    CallEnds,
    Compiled,
    CompileFailed,
    Compiling,
    Ended,
    Launched,
    LoadFailed,
    parse,
)
from kernelarena.protocol.compile_job import CompileJob
from kernelarena.spec import Shape


@dataclass
class Specialisation:
    """What is known of one compiled, or refused, specialisation."""

    begun: Compiling
    shape: Shape | None
    built: Compiled | None = None
    refused: CompileFailed | None = None
    grid: tuple[int, ...] = ()
    count: int = 0
    trial: bool = False
    """Whether an autotuner asked for it."""


@dataclass
class Story:
    """The events of a process, put together."""

    load: LoadFailed | None = None
    specialisations: dict[int, Specialisation] = field(default_factory=dict)
    calls: dict[int, CallEnds] = field(default_factory=dict)
    current: int | None = None
    """The call that was under way when the events end."""
    compiling: int | None = None
    """The specialisation that was being compiled when the events end."""
    ended: Ended | None = None


class Tampered(Exception):
    """The events cannot have come from the harness's own code."""


def tell(job: CompileJob, events: Iterable[object]) -> Story:
    """Return what the events tell.

    Raises
    ------
    Tampered
        If they contradict the job or one another.
    pydantic.ValidationError
        If one is of unknown form.
    """
    story = Story()
    known = story.specialisations
    for raw in events:
        event = parse(raw)
        if story.ended is not None or story.load is not None:
            raise Tampered("more after it had ended")
        if isinstance(event, LoadFailed):
            story.load = event
        elif isinstance(event, Compiling):
            if event.number in known:
                raise Tampered(f"specialisation {event.number} twice")
            shape = None if story.current is None else job.calls[story.current].shape
            known[event.number] = Specialisation(event, shape, trial=event.tuning)
            story.compiling = event.number
        elif isinstance(event, Compiled | CompileFailed | Launched):
            if event.number not in known:
                raise Tampered(f"specialisation {event.number}, which it never compiled")
            _note(known[event.number], event)
            if not isinstance(event, Launched):
                story.compiling = None
        elif isinstance(event, CallBegins):
            if event.index >= len(job.calls) or story.current is not None or event.index in story.calls:
                raise Tampered(f"call {event.index}, which was not due")
            story.current = event.index
        elif isinstance(event, CallEnds):
            if event.index != story.current:
                raise Tampered(f"the end of call {event.index}, which had not begun")
            story.calls[event.index], story.current = event, None
            for number, count in event.launches:
                if number not in known or known[number].built is None:
                    raise Tampered(f"launches of specialisation {number}, which it never compiled")
                known[number].count += count
        else:
            story.ended = event
    if story.ended is not None:
        _check_complete(job, story)
    return story


def _note(known: Specialisation, event: Compiled | CompileFailed | Launched) -> None:
    if isinstance(event, Compiled):
        known.built = event
    elif isinstance(event, CompileFailed):
        known.refused = event
    elif not event.tuning or not known.grid:
        known.grid = event.grid


def _check_complete(job: CompileJob, story: Story) -> None:
    """Let a call be missing only where an earlier one of its dtype has failed."""
    failed = {job.calls[index].shape.dtype for index, call in story.calls.items() if call.failure is not None}
    for index, call in enumerate(job.calls):
        if index not in story.calls and call.shape.dtype not in failed:
            raise Tampered(f"the end, but not the call with {call.shape}")
