"""Holds the times that a candidate tells against the judge's own clock, which no kernel can reach.

One request is too coarse a clock for a kernel of microseconds: sending it and hearing of it takes longer. The
difference between a request of many calls and one of twice as many is the time of many calls, with all that surrounds
them cancelled. The device waits long enough at first that the host has enqueued them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.judge.timing.arm import TimedArm

PAUSE = 20e-3
"""Seconds that the device waits for the host to enqueue."""
LONGEST_PAUSE = 50e-3
_WINDOW = 4e-3
"""Seconds of work that the shorter request should hold."""
_MOST_CALLS = 32
_REPEATED = 2
_TRIES = 3
"""So often is a kernel not believed before it is said."""
_ALLOWED = 2.0
"""By this factor may the judge's clock disagree: calls are not flushed, and clocks wander."""
_COARSE = 20e-6
"""Seconds; what the difference of two requests is good for."""
_SAFE = 0.5
"""Share of the pause that enqueuing may take."""


@dataclass(frozen=True)
class Told:
    """What a candidate tells of its calls.

    Attributes
    ----------
    arm
        The candidate.
    device
        Seconds a call on the device, with caches flushed; without, as here, it can only be less.
    host
        Seconds that the host takes to enqueue a call. Whoever tells too much has the device wait longer, and gains
        nothing; whoever tells too little looks slower than it is.
    """

    arm: TimedArm
    device: float
    host: float


def slower_than_told(kernel: Told, baseline: Told) -> str:
    """Return why the times that are told of a kernel cannot be true, or nothing.

    On a host that is busy with other things, the judge's clock is wrong of everyone; so the baseline, which nobody
    doubts, is held against the same clock, and has to be believed for a kernel not to be.

    Raises
    ------
    TimingFailed, BaselineFailed
        If a call failed or was wrong.
    """
    for _ in range(_TRIES):
        seen, calls = _seen(kernel)
        if _agrees(kernel, seen, calls) or not _agrees(baseline, *_seen(baseline)):
            return ""
    return (
        f"it says that a call takes {kernel.device * 1e6:.3g} µs; by the judge's clock it takes {seen * 1e6:.3g} µs. "
        "Leave clocks and events alone"
    )


def believed(told: Told) -> bool:
    """Return whether the judge's clock agrees with what is told, now or at another try.

    For two of whom neither is above doubt: each could look slow on purpose, so that the clock seems wrong of everyone.
    """
    return any(_agrees(told, *_seen(told)) for _ in range(_TRIES))


def _seen(told: Told) -> tuple[float, int]:
    """Return the seconds that a call takes by the judge's clock, and how many it was asked for."""
    affordable = int(_SAFE * LONGEST_PAUSE / max(told.host, 1e-6) / 2)
    calls = max(1, min(_MOST_CALLS, round(_WINDOW / told.device), affordable))
    pause = min(max(PAUSE, 2 * calls * told.host / _SAFE), LONGEST_PAUSE)
    once, twice = (min(_span(told.arm, count, pause) for _ in range(_REPEATED)) for count in (calls, 2 * calls))
    return (twice - once) / calls, calls


def _agrees(told: Told, seen: float, calls: int) -> bool:
    return seen <= _ALLOWED * max(told.device, told.host if calls == 1 else 0.0) + _COARSE


def _span(arm: TimedArm, calls: int, pause: float) -> float:
    """Return the seconds from asking for so many calls to hearing that they are done."""
    request = arm.run(calls, flush=False, pause=pause, audit=False)
    return (request.ended - request.began) * 1e-9
