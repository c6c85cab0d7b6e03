"""On how many of the platforms a kernel is any good, and how good it is there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernelarena.metrics._counts import JUDGED
from kernelarena.metrics._rate import Rate
from kernelarena.spec import Evidence, Status, Verdict


@dataclass(frozen=True)
class Spread:
    """Where one kernel passes and where it does not, as far as one kind of evidence tells."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def rate(self) -> Rate:
        """Platforms passed of platforms judged."""
        return Rate(len(self.passed), len(self.passed) + len(self.failed))


def portability(verdicts: Iterable[Verdict]) -> dict[str, dict[Evidence, Spread]]:
    """Return where each kernel passes, for each kind of evidence.

    The portability of a kernel is ``|{p : pass on p}| / |{p : judged on p}|`` over the platforms judged with that
    evidence. It is the unweighted special case of `pp`'s idea in which every platform is either good or not; unlike
    `pp` it does not drop to 0 at the first failure, so that kernels can be ranked by it.

    Returns
    -------
    dict
        Kernel ids in the order in which they first occur, platforms in theirs; a kernel without a judged cell has
        an empty entry.
    """
    verdicts = tuple(verdicts)
    cells: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        cells.setdefault(verdict.kernel, []).append(verdict)
    return {kernel: _spreads(own) for kernel, own in cells.items()}


def _spreads(verdicts: list[Verdict]) -> dict[Evidence, Spread]:
    found = {}
    for evidence in Evidence:
        judged = [v for v in verdicts if v.evidence is evidence and v.status in JUDGED]
        if judged:
            found[evidence] = Spread(
                passed=tuple(v.platform for v in judged if v.status is Status.PASS),
                failed=tuple(v.platform for v in judged if v.status is Status.FAIL),
            )
    return found


def pp(efficiencies: Mapping[str, float | None]) -> float:
    """Return Pennycook, Sewall and Lee's performance portability of one kernel.

    ``PP(k, H) = |H| / Σ_{i ∈ H} 1 / e_i`` if the kernel is supported on every platform of ``H``, and 0 otherwise: the
    harmonic mean of its efficiencies.

    Parameters
    ----------
    efficiencies
        For each platform of ``H``, the share of what is attainable there (architectural or application efficiency, the
        same kind for all), 0 to 1. None or 0: not supported there.

    Returns
    -------
    float
        0 to 1, never above the mean of the efficiencies.

    Raises
    ------
    ValueError
        If ``H`` is empty, or an efficiency is not a number from 0 to 1.

    References
    ----------
    S. J. Pennycook, J. D. Sewall, V. W. Lee: A Metric for Performance Portability. PMBS 2016, arXiv:1611.07409, eq. 1.
    """
    if not efficiencies:
        raise ValueError("performance portability over no platforms is not defined")
    for platform, efficiency in efficiencies.items():
        if efficiency is not None and not 0 <= efficiency <= 1:
            raise ValueError(f"the efficiency {efficiency} on {platform} is not a number from 0 to 1")
    values = [efficiency or 0.0 for efficiency in efficiencies.values()]
    if 0.0 in values:
        return 0.0
    # fsum, and the least efficiency taken out of the sum: 1/e of a subnormal e would overflow
    least = min(values)
    return len(values) * least / math.fsum(least / value for value in values)
