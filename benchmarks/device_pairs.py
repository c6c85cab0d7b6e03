"""Many pairs of processes on a device, whose kernels are known to take the same time, or one by so much longer."""

from __future__ import annotations

import statistics
from contextlib import ExitStack

from benchmarks.known_kernels import ELEMENTWISE, KNOWN, LOOP, Curve, spread
from benchmarks.rig import Rig
from kernelarena.protocol.timing import Arm, Timing

_SHARED = 20
"""Pairs that two processes are used for. A new process has its code and its memory elsewhere, which makes a difference
of its own; starting one takes longer than timing a pair."""


class Pairs:
    """Pairs of which the faster takes from ``shortest`` to ``longest`` seconds.

    Parameters
    ----------
    rig
        The device.
    shortest, longest
        s.
    slowest
        The greatest slowdown that is asked for.
    """

    def __init__(self, rig: Rig, shortest: float, longest: float, slowest: float) -> None:
        self._rig = rig
        self._shortest = shortest
        self._longest = longest
        self._slowest = slowest
        self._curves: dict[str, Curve] = {}

    @staticmethod
    def kernels(slowdown: float, pairs: int) -> dict[str, int]:
        """Return how many of the pairs are of which kernel.

        Only the loop's time is a straight line, so that a ratio can be had exactly; identical are all kernels.
        """
        if slowdown != 1:
            return {LOOP.name: pairs}
        return {name: count for name, count in ((ELEMENTWISE.name, pairs // 2), (LOOP.name, -(-pairs // 2))) if count}

    def timed(self, name: str, slowdown: float, count: int) -> tuple[list[Timing], float]:
        """Time so many pairs of a kernel.

        Returns
        -------
        list of Timing
            With the slower of each pair as the kernel.
        float
            The mean of their true ratios, by the work that they were given.
        """
        known, curve = KNOWN[name], self._curve(name)
        durations = spread(self._shortest, min(self._longest, curve.seconds[-1]), count)
        timings: list[Timing] = []
        truths: list[float] = []
        for first in range(0, count, _SHARED):
            with ExitStack() as until:
                processes = {arm: until.enter_context(self._rig.process(known)) for arm in Arm}
                for duration in durations[first : first + _SHARED]:
                    work = curve.work_for(duration)
                    more, truth = curve.slower(work, slowdown)
                    shapes = {Arm.BASELINE: known.shape(work), Arm.KERNEL: known.shape(more)}
                    timings.append(self._rig.pair(known, processes, shapes))
                    truths.append(truth)
        return timings, statistics.fmean(truths)

    def _curve(self, name: str) -> Curve:
        if name not in self._curves:
            self._curves[name] = self._rig.curve(KNOWN[name], self._longest * self._slowest)
        return self._curves[name]
