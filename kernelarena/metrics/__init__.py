"""Portability metrics: pure functions over verdicts, and over the tidy data frames made of them.

Every function keeps kinds of evidence apart: what it returns is keyed by `Evidence`, or belongs to one. Failures stay
in the denominator; cells that nothing is known about (skipped, infrastructure) are counted beside it, never in it.

Counts and rates are functions of verdicts. What has to do with speed is a function of data frames (`cells`,
`timings`), which notebooks can take further; those modules are imported when they are first asked for, because pandas
takes longer to load than most commands to run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kernelarena.metrics._counts import Counts, by_platform, counts, pass_rates, reasons
from kernelarena.metrics._generalisation import RAN, Generalisation, generalisation
from kernelarena.metrics._portability import Spread, portability, pp
from kernelarena.metrics._rate import Rate
from kernelarena.metrics._retention import Retention, retention

if TYPE_CHECKING:
    from kernelarena.metrics._efficiency import cascade, performance_portability, retained, with_application_efficiency
    from kernelarena.metrics._frames import CELL_COLUMNS, TIMING_COLUMNS, cells, timings
    from kernelarena.metrics._friendliness import agent_friendliness
    from kernelarena.metrics._speed import fast_p, speedups
    from kernelarena.metrics._suites import agent_kernel_arena_score, degradation, kernel_gen_bench

_LATER = {
    "_efficiency": ("cascade", "performance_portability", "retained", "with_application_efficiency"),
    "_frames": ("CELL_COLUMNS", "TIMING_COLUMNS", "cells", "timings"),
    "_friendliness": ("agent_friendliness",),
    "_speed": ("fast_p", "speedups"),
    "_suites": ("agent_kernel_arena_score", "degradation", "kernel_gen_bench"),
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "CELL_COLUMNS",
    "RAN",
    "TIMING_COLUMNS",
    "Counts",
    "Generalisation",
    "Rate",
    "Retention",
    "Spread",
    "agent_friendliness",
    "agent_kernel_arena_score",
    "by_platform",
    "cascade",
    "cells",
    "counts",
    "degradation",
    "fast_p",
    "generalisation",
    "kernel_gen_bench",
    "pass_rates",
    "performance_portability",
    "portability",
    "pp",
    "reasons",
    "retained",
    "retention",
    "speedups",
    "timings",
    "with_application_efficiency",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
