"""What a candidate does when it is timed: the same call again and again, each from caches that hold nothing of it.

A timed run is one stretch on the stream: a pause, a flush of the caches, a mark, the calls, a mark. The host enqueues
all of it while the device is still in the pause, so that what lies between the marks is the device's time and not the
host's. Where the host is too slow for that, or waits for the device itself, the run says so.

Times are claims, as everything that comes from here; the judge holds them against its own clock.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice

_clock = time.perf_counter  # kernels may replace it where others would look it up


@dataclass(frozen=True)
class Run:
    """One timed run."""

    device: float
    """Seconds from mark to mark."""
    host: float
    """Seconds that the host took to enqueue the calls."""
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

    def run(
        self,
        calls: Iterable[Callable[[], Any]],
        results: deque[Any],
        *,
        flush: bool,
        pause: float,
        enqueued: Callable[[], None],
    ) -> Run:
        """Time some calls in a row.

        Parameters
        ----------
        calls
            What is called.
        results
            Takes in what each returns; it keeps as many as its bound allows.
        flush
            Whether the caches are flushed before.
        pause
            Seconds for which the device waits before, while the host enqueues.
        enqueued
            Called when everything is enqueued, and before it is waited for.
        """
        self._device.delay(pause)
        if flush:
            self._scrub.zero_()
        self._start.record(self._stream)
        began = _clock()
        for call in calls:
            results.append(call())
        host = _clock() - began
        bound = bool(self._start.query())
        self._end.record(self._stream)
        enqueued()
        self._end.synchronize()
        return Run(self._start.elapsed_time(self._end) / 1e3, host, bound)
