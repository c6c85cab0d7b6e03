"""Energy of an interval, with how far it may be off."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kernelarena.platforms.telemetry.schema import Facts, Sample
from kernelarena.spec.base import StrEnum


class Method(StrEnum):
    """Where an energy comes from."""

    COUNTER = "counter"
    """The device's own energy counter."""
    POWER = "power"
    """Power readings, integrated."""


@dataclass(frozen=True)
class Energy:
    """Energy over an interval."""

    joules: float
    uncertainty: float
    """J, to both sides. From a counter: a bound. From power: an estimate."""
    method: Method

    def per(self, executions: int) -> Energy:
        """Return the share of one of ``executions`` that filled the interval.

        Raises
        ------
        ValueError
            If there was none.
        """
        if executions < 1:
            raise ValueError(f"energy of {executions} executions is not defined")
        return Energy(self.joules / executions, self.uncertainty / executions, self.method)


def energy(samples: Sequence[Sample], start_ns: int, end_ns: int, facts: Facts) -> Energy | None:
    r"""Return the energy that a device took between two moments: from its counter, or else from its power.

    **Counter.** A counter is read now and then, and updates now and then. True energy at time :math:`t` is at least the
    counter :math:`C` as last read by then, and at most the first value :math:`C'` that the counter took after the first
    reading behind :math:`t`: that reading itself may be of before :math:`t`. With :math:`[C_0, C_0']` at the start and
    :math:`[C_1, C_1']` at the end the energy is in :math:`[C_1 - C_0', C_1' - C_0]`, and never negative. The value
    given is the difference of the counter interpolated between the moments at which it changed, each known to lie
    between two readings; the uncertainty reaches to the farther end of that range, plus one step of the counter.

    **Power.** The trapezoidal rule over the readings, interpolated at both ends. Its uncertainty is the sum of half
    the difference between the upper and the lower rectangle sum (what happened between two readings is not known), of
    the vendor's accuracy, and, where a reading is the average over a window :math:`w`, of
    :math:`\tfrac{w}{2} (P_{max} - P_{min})`: by so much the average lags behind.

    Parameters
    ----------
    samples
        In order of time; one or more before the interval, and after it as many as the counter takes to change twice.
    start_ns, end_ns
        On the clock of the samples, ns.
    facts
        The device's.

    Returns
    -------
    Energy or None
        None where neither the counter nor power is known on both sides of the interval.

    Raises
    ------
    ValueError
        If the interval ends before it starts.
    """
    if end_ns < start_ns:
        raise ValueError(f"the interval ends {start_ns - end_ns} ns before it starts")
    counted = [(s.at_ns, s.reading.energy_j) for s in samples if s.reading.energy_j is not None]
    powers = [(s.at_ns, s.reading.power_w) for s in samples if s.reading.power_w is not None]
    return _counted(counted, start_ns, end_ns, facts) or _integrated(powers, start_ns, end_ns, facts)


Point = tuple[int, float]


def _counted(points: list[Point], start: int, end: int, facts: Facts) -> Energy | None:
    if any(later[1] < earlier[1] for earlier, later in pairwise(points)):
        return None  # it was reset, or wrapped around
    first, last = _bracket(points, start), _bracket(points, end)
    if first is None or last is None:
        return None
    value = last[1] - first[1]
    low, high = max(0.0, last[0] - first[2]), last[2] - first[0]
    step = facts.energy_resolution_j or 0.0
    return Energy(value, max(value - low, high - value) + step, Method.COUNTER)


def _bracket(points: list[Point], at: int) -> tuple[float, float, float] | None:
    """Return the least, the likeliest and the greatest value that a counter can have had, or None where it is open."""
    index = bisect_right(points, at, key=lambda point: point[0])
    if index == 0 or index == len(points):
        return None
    low, behind = points[index - 1][1], points[index][1]
    high = next((value for _, value in points[index:] if value > behind), None)
    if high is None:
        return None
    knots = [(float(points[0][0]), points[0][1])]
    knots += [((t0 + t1) / 2, v1) for (t0, v0), (t1, v1) in pairwise(points) if v1 > v0]
    found = bisect_right(knots, float(at), key=lambda knot: knot[0])
    (t0, v0), (t1, v1) = knots[found - 1], knots[found]
    return low, min(high, max(low, v0 + (v1 - v0) * (at - t0) / (t1 - t0))), high


def _integrated(points: list[Point], start: int, end: int, facts: Facts) -> Energy | None:
    if not points or points[0][0] > start or points[-1][0] < end:
        return None
    inner = [point for point in points if start < point[0] < end]
    path = [(start, _interpolated(points, start)), *inner, (end, _interpolated(points, end))]
    total = spread = 0.0
    for (t0, p0), (t1, p1) in pairwise(path):
        seconds = (t1 - t0) * 1e-9
        total += (p0 + p1) / 2 * seconds
        spread += abs(p1 - p0) / 2 * seconds
    window = facts.power_window_s or 0.0
    reach = int(window * 1e9)
    near = [power for at, power in points if start - reach <= at <= end + reach] + [path[0][1], path[-1][1]]
    lag = window / 2 * (max(near) - min(near))
    return Energy(total, spread + lag + (facts.power_accuracy or 0.0) * total, Method.POWER)


def _interpolated(points: list[Point], at: int) -> float:
    index = bisect_left(points, at, key=lambda point: point[0])
    if points[index][0] == at:
        return points[index][1]
    (t0, p0), (t1, p1) = points[index - 1], points[index]
    return p0 + (p1 - p0) * (at - t0) / (t1 - t0)
