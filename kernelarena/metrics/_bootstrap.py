"""Intervals by resampling tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

REPLICATES = 2_000
"""Resamplings: enough for the ends of a 95 % interval to be stable in the second digit."""
_ROOM = 4_000_000
"""Weights that are held at a time."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A value with the interval that resampling gives it; NaN at both ends where there are fewer than two tasks."""

    value: float
    low: float
    high: float


def over_tasks(
    statistic: Callable[[Floats, Integers], Floats],
    values: Floats,
    tasks: npt.NDArray[np.object_],
    *,
    confidence: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Interval:
    """Return a statistic of ``values`` with a percentile interval from a bootstrap over tasks.

    Tasks are drawn with replacement, each with all its values: kernels of one task are alike, so that resampling single
    kernels would promise a precision that another set of tasks would not show. Below about ten tasks such intervals
    cover less than they say; with one task there is none.

    Parameters
    ----------
    statistic
        Takes the values in ascending order and how often each occurs in each replicate (replicates × values), and
        returns one number a replicate: `geometric_mean` or `median`.
    values
        Positive.
    tasks
        The task of each.
    confidence
        0 to 1.
    replicates
        How many resamplings.
    seed
        Of the resampling, so that a report is the same each time.

    Raises
    ------
    ValueError
        If there is no value, one is not positive and finite, or ``confidence`` is not between 0 and 1.

    References
    ----------
    B. Efron, R. J. Tibshirani: *An Introduction to the Bootstrap*, Chapman & Hall 1993, chapter 13. Whole clusters:
    A. C. Davison, D. V. Hinkley: *Bootstrap Methods and their Application*, Cambridge 1997, section 3.8.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence is between 0 and 1, not {confidence}")
    if not len(values) or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError("a ratio is averaged over at least one value, each positive and finite")
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    _, of = np.unique(tasks[order].astype(str), return_inverse=True)
    count = int(of.max()) + 1
    once = np.ones((1, len(ordered)), dtype=np.int64)
    value = float(statistic(ordered, once)[0])
    if count < 2:
        return Interval(value, float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    step = max(1, _ROOM // len(ordered))
    found = []
    for start in range(0, replicates, step):
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=min(step, replicates - start))
        found.append(statistic(ordered, drawn[:, of]))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(found), [tail, 1 - tail])
    return Interval(value, float(low), float(high))


def geometric_mean(values: Floats, weights: Integers) -> Floats:
    """Return ``exp(Σ w ln x / Σ w)`` of each replicate."""
    means: Floats = np.exp((weights @ np.log(values)) / weights.sum(axis=1))
    return means


def median(values: Floats, weights: Integers) -> Floats:
    """Return the median of each replicate: the mean of the two middle ones where their number is even."""
    reached = np.cumsum(weights, axis=1)
    total = reached[:, -1]
    lower = np.argmax(reached >= ((total + 1) // 2)[:, None], axis=1)
    upper = np.argmax(reached >= (total // 2 + 1)[:, None], axis=1)
    middles: Floats = (values[lower] + values[upper]) / 2
    return middles
