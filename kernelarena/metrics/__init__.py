"""Portability metrics: pure functions over verdicts.

Every function keeps kinds of evidence apart: what it returns is keyed by `Evidence`, or belongs to one. Failures stay
in the denominator; cells that nothing is known about (skipped, infrastructure) are counted beside it, never in it.
"""

from kernelarena.metrics._counts import Counts, by_platform, counts, pass_rates, reasons
from kernelarena.metrics._generalisation import RAN, Generalisation, generalisation
from kernelarena.metrics._portability import Spread, portability, pp
from kernelarena.metrics._rate import Rate
from kernelarena.metrics._retention import Retention, retention

__all__ = [
    "RAN",
    "Counts",
    "Generalisation",
    "Rate",
    "Retention",
    "Spread",
    "by_platform",
    "counts",
    "generalisation",
    "pass_rates",
    "portability",
    "pp",
    "reasons",
    "retention",
]
