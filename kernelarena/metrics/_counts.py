"""How many cells passed, and what the others were lost to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelarena.metrics._rate import Rate
from kernelarena.spec import Evidence, Reason, Status, Verdict

JUDGED = frozenset({Status.PASS, Status.FAIL})
"""The statuses that say something about the kernel."""


@dataclass(frozen=True)
class Counts:
    """How some cells ended."""

    rates: dict[Evidence, Rate] = field(default_factory=dict)
    """Passed of judged, for each kind of evidence that occurs, the strongest first."""
    skipped: int = 0
    """Cells that could not be tried here."""
    infra: int = 0
    """Cells lost to something around the kernel."""


def counts(verdicts: Iterable[Verdict]) -> Counts:
    """Count how cells ended.

    Parameters
    ----------
    verdicts
        Any cells; each is counted once.

    Returns
    -------
    Counts
        The rates and the cells that are in none of them.
    """
    verdicts = tuple(verdicts)
    statuses = Counter(verdict.status for verdict in verdicts)
    return Counts(pass_rates(verdicts), statuses[Status.SKIPPED], statuses[Status.INFRA])


def by_platform(verdicts: Iterable[Verdict]) -> dict[str, Counts]:
    """Return `counts` for each platform, in the order in which platforms first occur."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.platform, []).append(verdict)
    return {platform: counts(group) for platform, group in groups.items()}


def pass_rates(verdicts: Iterable[Verdict]) -> dict[Evidence, Rate]:
    """Return the pass rate over judged cells, one for each kind of evidence.

    ``rate(e) = |pass with e| / (|pass with e| + |fail with e|)``. A failure at whatever gate stays in the denominator;
    skipped and infrastructure cells are in neither, since they say nothing about the kernel.

    Returns
    -------
    dict
        Only kinds that occur, the strongest first.
    """
    tally: Counter[tuple[Evidence | None, Status]] = Counter((verdict.evidence, verdict.status) for verdict in verdicts)
    found = {
        evidence: Rate(tally[evidence, Status.PASS], tally[evidence, Status.PASS] + tally[evidence, Status.FAIL])
        for evidence in Evidence
    }
    return {evidence: rate for evidence, rate in found.items() if rate.total}


def reasons(verdicts: Iterable[Verdict]) -> dict[Evidence, dict[Reason, int]]:
    """Count what failed cells were lost to, one histogram for each kind of evidence.

    Returns
    -------
    dict
        The strongest evidence first; in each, the most frequent reason first and ties in the vocabulary's order.
        Counts of a kind add up to its failures.
    """
    found: dict[Evidence, dict[Reason, int]] = {}
    failures = [verdict for verdict in verdicts if verdict.status is Status.FAIL]
    for evidence in Evidence:
        tally = Counter(v.reason for v in failures if v.evidence is evidence and v.reason is not None)
        ordered = sorted(((tally[reason], reason) for reason in Reason if tally[reason]), key=lambda pair: -pair[0])
        if ordered:
            found[evidence] = {reason: number for number, reason in ordered}
    return found
