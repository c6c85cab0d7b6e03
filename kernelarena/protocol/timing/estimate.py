"""A value with the interval that it lies in, and the median's, which asks nothing of the distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """A value and the interval that covers the truth with a given confidence."""

    value: float
    low: float
    high: float
    confidence: float
    """0 to 1."""
    samples: int
    """How many independent observations it rests on."""

    @property
    def precision(self) -> float:
        """Half the width of the interval over the value: 0.01 reads ±1 %."""
        return (self.high - self.low) / 2 / abs(self.value) if self.value else math.inf


def median(samples: Sequence[float], confidence: float) -> Estimate:
    r"""Return the median of ``samples`` with a distribution-free interval.

    With order statistics :math:`X_{(1)} \le \dots \le X_{(n)}` of independent samples of any distribution,

    .. math::

        P\left(X_{(r)} \le m \le X_{(n+1-r)}\right) \ge 1 - 2^{1-n} \sum_{k=0}^{r-1} \binom{n}{k}

    whatever the distribution; the greatest :math:`r` for which this reaches ``confidence`` is taken. Ties make it cover
    more, never less. Samples of a chip whose clock wanders are not independent: read the interval of one arm as a
    statement about these samples, and compare arms by their ratio.

    Parameters
    ----------
    samples
        Seconds, or any other unit.
    confidence
        0 to 1.

    Raises
    ------
    ValueError
        If there are too few samples for that confidence.

    References
    ----------
    H. A. David, H. N. Nagaraja: *Order Statistics*, 3rd edition, Wiley 2003, section 7.1.
    """
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    rank = median_rank(len(ordered), confidence)
    if rank == 0:
        raise ValueError(f"{len(ordered)} samples are too few for a median with {confidence:.1%} confidence")
    return Estimate(
        value=float(np.median(ordered)),
        low=float(ordered[rank - 1]),
        high=float(ordered[-rank]),
        confidence=confidence,
        samples=len(ordered),
    )


@lru_cache(maxsize=4096)
def median_rank(count: int, confidence: float) -> int:
    """Return the greatest ``r`` such that the ``r``-th least and ``r``-th greatest of ``count`` enclose the median.

    0 where not even the extremes do with that confidence.

    Raises
    ------
    ValueError
        If ``confidence`` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence is between 0 and 1, not {confidence}")
    if count < 1:
        return 0
    # From the middle outwards, so that nothing underflows: covered = P(r <= B <= count - r), B binomial(count, 1/2).
    rank = (count + 1) // 2
    log_mass = math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1) - count * math.log(2)
    mass = math.exp(log_mass)
    covered = mass if 2 * rank == count else 0.0 if 2 * rank > count else 2 * mass
    while rank > 0 and covered < confidence:
        mass *= rank / (count - rank + 1)
        rank -= 1
        covered += 2 * mass
    return rank
