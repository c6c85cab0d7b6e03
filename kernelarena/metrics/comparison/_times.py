"""Which kernels became slower or faster between two runs, beyond what noise explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from kernelarena.spec import Shape, TimedShape, Verdict
from kernelarena.spec.base import StrEnum

CONFIDENCE = 0.99
"""Of the interval that a speedup comes with: every timing protocol's."""
RATE = 0.05
"""Of the differences that are claimed, the share that may be false, on average."""
_NORMAL = NormalDist()


class Pace(StrEnum):
    """What may be said of a kernel's time."""

    SLOWER = "slower"
    FASTER = "faster"
    NONE = "none"
    """No difference that could be told from noise."""


@dataclass(frozen=True)
class TimeChange:
    """One shape of one cell, timed in both runs."""

    task: str
    kernel: str
    platform: str
    shape: Shape
    base_seconds: float | None
    new_seconds: float | None
    ratio: float
    """New time over old time, above 1 for slower."""
    low: float
    high: float
    """The interval of the ratio: of a difference that is claimed, widened for having been picked among many."""
    floor: float
    """The ratio that both runs' noise floors explain: 1.02 reads ±2 %."""
    p: float
    """How likely noise alone is to show so much."""
    relative: bool
    """Whether times are in units of the baseline, which ran beside the kernel in both runs, so that a chip that was
    slower on that day cancels out. Otherwise the baseline itself is another, and times are compared as they stand."""
    pace: Pace = Pace.NONE


def time_changes(base: Verdict, new: Verdict, *, same_baseline: bool) -> list[TimeChange]:
    r"""Compare the shapes of a cell that were timed in both runs; what is claimed is decided by `decide`.

    With :math:`s` the speedups over the baseline and :math:`t` the kernel's times, the logarithm of the ratio is
    :math:`d = \ln(s_{base} / s_{new})` where the baseline is the same, else :math:`d = \ln(t_{new} / t_{base})`. Its
    standard error is that of the two speedups, taken from their intervals: :math:`\sigma^2 = \sigma_{base}^2 +
    \sigma_{new}^2` with :math:`\sigma = (\ln s_{high} - \ln s_{low}) / 2 z_{0.995}`. Both runs' noise floors add up to
    :math:`\delta = \ln(1 + n_{base}) + \ln(1 + n_{new})`, since what an A/A pair shows may be a bias that lasts for the
    run. The hypothesis to be refuted is :math:`|\ln r| \le \delta`, so

    .. math:: p = \Phi\Big(\frac{\delta - |d|}{\sigma}\Big) + \Phi\Big(\frac{-\delta - |d|}{\sigma}\Big)

    which is the most that noise can do under it.
    """
    before = {timed.shape: timed for timed in base.timings}
    found = []
    for timed in new.timings:
        old = before.get(timed.shape)
        if old is not None and (change := _change(new, old, timed, same_baseline)) is not None:
            found.append(change)
    return found


def decide(changes: Sequence[TimeChange], rate: float = RATE) -> list[TimeChange]:
    r"""Return the changes with what may be claimed of each, so that false claims are at most ``rate`` of all claims.

    Benjamini and Hochberg: with :math:`p_{(1)} \le \dots \le p_{(m)}` over the **whole** comparison, all shapes of all
    cells, claim those up to the greatest :math:`k` with :math:`p_{(k)} \le k q / m`. It holds where tests are
    independent, and where they depend on one another as shapes of one kernel do. Of :math:`R` claims among :math:`m`,
    intervals are given at :math:`1 - R q / m`, since they were picked for being extreme; of the others, at
    :math:`1 - q`.

    Parameters
    ----------
    changes
        Of the whole comparison.
    rate
        q, 0 to 1.

    Raises
    ------
    ValueError
        If ``rate`` is not between 0 and 1.

    References
    ----------
    Y. Benjamini, Y. Hochberg: Controlling the False Discovery Rate. Journal of the Royal Statistical Society B 57(1),
    1995. Y. Benjamini, D. Yekutieli: The control of the false discovery rate in multiple testing under dependency.
    Annals of Statistics 29(4), 2001; False Discovery Rate–Adjusted Multiple Confidence Intervals for Selected
    Parameters. Journal of the American Statistical Association 100(469), 2005.
    """
    if not 0 < rate < 1:
        raise ValueError(f"a rate of false claims is between 0 and 1, not {rate}")
    count = len(changes)
    ordered = sorted(changes, key=lambda change: change.p)
    claims = max((k for k, change in enumerate(ordered, start=1) if change.p <= k * rate / count), default=0)
    limit = ordered[claims - 1].p if claims else -1.0
    return [
        _decided(change, change.p <= limit, rate * claims / count if change.p <= limit else rate) for change in changes
    ]


def _change(cell: Verdict, old: TimedShape, now: TimedShape, same_baseline: bool) -> TimeChange | None:
    if old.speedup is None or now.speedup is None or not old.kernel or not now.kernel:
        return None
    ratios = (old.speedup, now.speedup)
    if not all(0 < value < math.inf for ratio in ratios for value in (ratio.median, *ratio.ci)):
        return None
    relative = same_baseline and old.speedup.baseline == now.speedup.baseline
    difference = math.log(old.speedup.median / now.speedup.median if relative else now.kernel / old.kernel)
    wide = 2 * _NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
    error = math.hypot(*(math.log(ratio.ci[1] / ratio.ci[0]) / wide for ratio in ratios))
    floor = math.log1p(old.noise) + math.log1p(now.noise)
    beyond = abs(difference)
    if error:
        p = min(1.0, _NORMAL.cdf((floor - beyond) / error) + _NORMAL.cdf((-floor - beyond) / error))
    else:
        p = 0.0 if beyond > floor else 1.0
    return TimeChange(
        task=cell.task,
        kernel=cell.kernel,
        platform=cell.platform,
        shape=now.shape,
        base_seconds=old.kernel,
        new_seconds=now.kernel,
        ratio=math.exp(difference),
        low=math.exp(difference - error),
        high=math.exp(difference + error),
        floor=math.exp(floor),
        p=p,
        relative=relative,
    )


def _decided(change: TimeChange, claimed: bool, miss: float) -> TimeChange:
    error = math.log(change.high / change.ratio) * _NORMAL.inv_cdf(1 - miss / 2)
    pace = Pace.NONE if not claimed else Pace.SLOWER if change.ratio > 1 else Pace.FASTER
    low, high = change.ratio * math.exp(-error), change.ratio * math.exp(error)
    return replace(change, low=low, high=high, pace=pace)
