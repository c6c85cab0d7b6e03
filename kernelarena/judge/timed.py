"""What a candidate does when it is timed: the same call again and again, each from caches that hold nothing of it.

A timed run is one stretch on the stream: a pause, a flush of the caches, a mark, the calls, a mark. The host enqueues
all of it while the device is still in the pause, so that what lies between the marks is the device's time and not the
host's. Where the host is too slow for that, or waits for the device itself, the run says so.

Times are claims, as everything that comes from here; the judge holds them against its own clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice

SHORTEST_PAUSE = 100e-6
LONGEST_PAUSE = 50e-3
"""Seconds; host code that takes longer is timed as it comes."""
_MARGIN = 1.5
_clock = time.perf_counter  # kernels may replace it where others would look it up


@dataclass(frozen=True)
class Run:
    """One timed run."""

    device: float
    """Seconds from mark to mark, over the number of calls."""
    host: float
    """Seconds that the host took to enqueue a call."""
    bound: bool
    """Whether the host was still enqueuing when the device got to the calls, so that its time is part of theirs."""


class Stopwatch:
    """Times calls on one stream of one device.

    Parameters
    ----------
    device
        The device.
    stream
        Where the work that counts goes; the caller's current one.
    cache
        Bytes that a flush writes.
    """

    def __init__(self, device: OpenedDevice, stream: Any, cache: int) -> None:
        self._device = device
        self._stream = stream
        self._start: Any = device.marks()
        self._end: Any = device.marks()
        self._scrub = device.scratch(cache)
        self._host = 1e-3
        """Seconds that the host is expected to take for a run."""

    def run(
        self,
        calls: Sequence[Callable[[], Any]],
        *,
        flush: bool = True,
        pause: float | None = None,
        enqueued: Callable[[], None] = lambda: None,
    ) -> tuple[Run, Any]:
        """Time some calls in a row.

        Parameters
        ----------
        calls
            What is called.
        flush
            Whether the caches are flushed before.
        pause
            Seconds for which the device waits before; None: for as long as the host is expected to take.
        enqueued
            Called when everything is enqueued, and before it is waited for.

        Returns
        -------
        Run, object
            The time, and what the last call returned.
        """
        found, result = self._run(calls, flush, self._pause if pause is None else pause, enqueued)
        if pause is None and found.bound and self._pause < LONGEST_PAUSE:  # by the host's time that was seen now
            found, result = self._run(calls, flush, self._pause, enqueued)
        return found, result

    @property
    def _pause(self) -> float:
        return min(max(SHORTEST_PAUSE, _MARGIN * self._host), LONGEST_PAUSE)

    def _run(
        self, calls: Sequence[Callable[[], Any]], flush: bool, pause: float, enqueued: Callable[[], None]
    ) -> tuple[Run, Any]:
        self._device.delay(pause)
        if flush:
            self._scrub.zero_()
        self._start.record(self._stream)
        began = _clock()
        for call in calls:
            result = call()
        host = _clock() - began
        bound = bool(self._start.query())
        self._end.record(self._stream)
        enqueued()
        self._end.synchronize()
        self._host = host if bound else 0.8 * self._host + 0.2 * host
        seconds = self._start.elapsed_time(self._end) / 1e3
        return Run(seconds / len(calls), host / len(calls), bound), result
