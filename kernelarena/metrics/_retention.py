"""What is left of kernels when they are carried from the chip they were written on to another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from kernelarena.metrics._counts import JUDGED
from kernelarena.metrics._rate import Rate
from kernelarena.spec import Evidence, Status, Verdict


@dataclass(frozen=True)
class Retention:
    """Of the kernels that pass on the platform they were written for, those that pass on another."""

    home: str
    platform: str
    home_evidence: Evidence
    """How it is known that they pass at home."""
    evidence: Evidence
    """How it is known whether they pass on the other platform."""
    rate: Rate


def retention(verdicts: Iterable[Verdict]) -> list[Retention]:
    """Return the retention from each home to each other platform.

    ``R(h → p) = |{k ∈ M : k passes on p}| / |M|`` where ``M`` holds the kernels at home on ``h`` that pass there and
    are judged on ``p`` (the matched subset). Kernels that fail at home already are not ``p``'s loss, and are in
    neither number. Pairs are kept apart by the evidence at either end: "of those that ran at home, these build for
    p" and "of those that build for home, these build for p" are different statements.

    Returns
    -------
    list
        Ordered by first occurrence of home, then of platform, then by evidence. Pairs without a matched kernel are
        left out.
    """
    judged = [verdict for verdict in verdicts if verdict.status in JUDGED]
    proven = {
        verdict.kernel: verdict.evidence
        for verdict in judged
        if verdict.home == verdict.platform and verdict.status is Status.PASS
    }
    matched: dict[tuple[str | None, str, Evidence | None, Evidence | None], list[bool]] = {}
    for verdict in judged:
        if verdict.kernel in proven and verdict.home != verdict.platform:
            pair = (verdict.home, verdict.platform, proven[verdict.kernel], verdict.evidence)
            matched.setdefault(pair, []).append(verdict.status is Status.PASS)
    homes = dict.fromkeys(verdict.home for verdict in judged if verdict.home is not None)
    platforms = dict.fromkeys(verdict.platform for verdict in judged)
    return [
        Retention(*pair, Rate(sum(kept), len(kept)))
        for pair in itertools.product(homes, platforms, Evidence, Evidence)
        if (kept := matched.get(pair))
    ]
