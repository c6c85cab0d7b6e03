"""How many times faster one arm is than the other, from rounds in which both ran side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from kernelarena.protocol.timing.estimate import Estimate, median
from kernelarena.protocol.timing.rounds import Arm, Round

EXACT_UP_TO = 100
"""So many rounds have the signed-rank distribution computed; beyond, the normal one is as good."""
_TOLERANCE = 1e-10


def speedup(rounds: Sequence[Round], confidence: float) -> Estimate:
    r"""Return time of the baseline over time of the kernel, with an interval, from interleaved rounds.

    Each round :math:`i` gives :math:`d_i = \ln(\bar t_{baseline} / \bar t_{kernel})` of its arms' mean times. Its runs
    lie in mirrored order (kernel, baseline, baseline, kernel, or the reverse by the toss of a coin), so that a clock
    that drifts evenly cancels out of :math:`d_i`, and whatever is left of it is as likely to favour the one arm as the
    other. The :math:`d_i` are therefore symmetric about the logarithm of the true ratio by the design of the
    experiment, whatever the distribution of times: heavy-tailed, bimodal, dependent from round to round. The estimate
    is Hodges and Lehmann's, the median of the Walsh averages :math:`(d_i + d_j) / 2, i \le j`, and the interval is made
    of those Walsh averages at which Wilcoxon's signed-rank test would begin to reject. A quarter of all rounds may be
    outliers, and neither moves far.

    Parameters
    ----------
    rounds
        Each with both arms, as often the one as the other.
    confidence
        0 to 1.

    Raises
    ------
    ValueError
        If there are too few rounds for that confidence, or a round lacks an arm.

    References
    ----------
    J. L. Hodges, E. L. Lehmann: Estimates of Location Based on Rank Tests. Annals of Mathematical Statistics 34(2),
    1963. M. Hollander, D. A. Wolfe, E. Chicken: *Nonparametric Statistical Methods*, 3rd edition, Wiley 2014, sections
    3.2 and 3.3. Inference from randomisation alone: R. A. Fisher, *The Design of Experiments*, 1935, chapter III.
    """
    centre = shift([log_ratio(entry) for entry in rounds], confidence)
    return Estimate(
        math.exp(centre.value), math.exp(centre.low), math.exp(centre.high), confidence, samples=centre.samples
    )


def speedup_of_medians(baseline: Sequence[float], kernel: Sequence[float], confidence: float) -> Estimate:
    """Return the ratio of two medians, for arms that ran one after the other.

    Each median gets half of the error (Bonferroni), so that the quotient of the ends covers the ratio at least with
    ``confidence``, as far as the chip did not change from the one arm to the other: which nothing here can tell.

    Raises
    ------
    ValueError
        If there are too few samples for that confidence.
    """
    each = 1 - (1 - confidence) / 2
    slow, fast = median(baseline, each), median(kernel, each)
    return Estimate(
        slow.value / fast.value,
        slow.low / fast.high,
        slow.high / fast.low,
        confidence,
        samples=min(slow.samples, fast.samples),
    )


def log_ratio(entry: Round) -> float:
    """Return the logarithm of the ratio of a round's mean times, baseline over kernel.

    Raises
    ------
    ValueError
        If the round does not have each arm equally often.
    """
    baseline, kernel = (entry.order.count(arm) for arm in (Arm.BASELINE, Arm.KERNEL))
    if not baseline or baseline != kernel:
        raise ValueError(f"a round of {baseline} baseline and {kernel} kernel runs has no ratio")
    return math.log(entry.mean(Arm.BASELINE) / entry.mean(Arm.KERNEL))


def shift(values: Sequence[float], confidence: float) -> Estimate:
    """Return the centre of symmetry of ``values``: Hodges and Lehmann's estimate, and Wilcoxon's interval.

    Raises
    ------
    ValueError
        If there are too few values for that confidence.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    count = len(ordered)
    rank = signed_rank(count, confidence)
    if rank == 0:
        raise ValueError(f"{count} rounds are too few for a ratio with {confidence:.1%} confidence")
    total = count * (count + 1) // 2
    low, high = _walsh(ordered, rank), _walsh(ordered, total + 1 - rank)
    centre = (_walsh(ordered, (total + 1) // 2) + _walsh(ordered, total // 2 + 1)) / 2
    return Estimate(centre, low, high, confidence, samples=count)


@lru_cache(maxsize=4096)
def signed_rank(count: int, confidence: float) -> int:
    """Return the rank among the Walsh averages of ``count`` values at which their interval starts; 0 if there is none.

    The greatest ``r`` with ``2 P(T <= r - 1) <= 1 - confidence`` under the null distribution of Wilcoxon's statistic
    ``T``, the sum of those ranks 1 … ``count`` that a fair coin picks.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence is between 0 and 1, not {confidence}")
    tail = (1 - confidence) / 2
    if count > EXACT_UP_TO:
        mean = count * (count + 1) / 4
        deviation = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
        return max(0, math.floor(mean + 0.5 + NormalDist().inv_cdf(tail) * deviation))
    mass = np.ones(1)
    for rank in range(1, count + 1):
        grown = np.zeros(len(mass) + rank)
        grown[: len(mass)] += mass / 2
        grown[rank:] += mass / 2
        mass = grown
    return int(np.searchsorted(np.cumsum(mass), tail, side="right"))


def _walsh(ordered: npt.NDArray[np.float64], rank: int) -> float:
    """Return the ``rank``-th least of all averages of two of ``ordered``, a value with itself included.

    There are n (n + 1) / 2 of them; halving the range and counting, at n log n a step, spares making them.
    """
    return _least(lambda at: _averages_up_to(ordered, at) >= rank, float(ordered[0]), float(ordered[-1]))


def _averages_up_to(ordered: npt.NDArray[np.float64], at: float) -> int:
    twice = int(np.searchsorted(ordered, 2 * at - ordered, side="right").sum())  # ordered pairs, each counted twice
    return (twice + int(np.searchsorted(ordered, at, side="right"))) // 2


def _least(enough: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least value from ``low`` to ``high`` that is ``enough``; the highest is."""
    if enough(low):
        return low
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
