"""How much faster than the baseline, over cells that ran on their chip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kernelarena.metrics import _bootstrap
from kernelarena.metrics._frames import checked, grouped, judged, one_scale, passed, table, with_speed
from kernelarena.spec import Evidence

FAST = (0.8, 1.0, 1.5, 2.0)
"""The thresholds at which fast_p is commonly told."""
_COLUMNS = ("task", "kernel", "platform", "evidence", "status", "speedup", "baseline")


def fast_p(cells: pd.DataFrame, thresholds: Sequence[float] = FAST, by: Sequence[str] = ("platform",)) -> pd.DataFrame:
    r"""Return the share of cells that are right and more than ``p`` times as fast as the baseline.

    .. math::

        \mathrm{fast}_p = \frac{1}{N} \sum_{i=1}^{N} 1(\mathrm{correct}_i \wedge \mathrm{speedup}_i > p)

    over **all** ``N`` measured cells of a group: a kernel that fails at whatever gate stays in the denominator, so that
    none becomes faster by failing. ``fast_0`` is the pass rate of timed kernels. A cell that passes without a speedup
    (too few samples, timing off) stays in the denominator too, and is counted in ``untimed``: the true share lies
    between ``share`` and ``share + untimed / total``. Cells that nothing is known about are left out, and so are those
    of tasks that do not ask for speed (views and metadata).

    Parameters
    ----------
    cells
        As `metrics.cells` makes them.
    thresholds
        Values of p, 0 or more; the comparison is strict.
    by
        Columns that make the groups; none for one number over everything.

    Returns
    -------
    DataFrame
        ``by``, ``p``, ``fast``, ``total``, ``untimed``, ``share``; no row for a group without a measured cell.

    Raises
    ------
    TypeError, ValueError
        If the frame is none, lacks a column, has two rows for a cell, or speedups over several kinds of baseline in a
        group; if a threshold is negative or no number.

    References
    ----------
    A. Ouyang et al.: KernelBench: Can LLMs Write Efficient GPU Kernels? ICML 2025, arXiv:2502.10517, section 3.3.
    """
    checked(cells, (*_COLUMNS, *by), ("kernel", "platform"))
    for p in thresholds:
        if not p >= 0:
            raise ValueError(f"a speedup of {p} is no threshold")
    rows = []
    for shared, group in grouped(with_speed(judged(cells, Evidence.MEASURED)), by):
        right = passed(one_scale(group))
        for p in thresholds:
            fast = int((right & (group["speedup"] > p)).sum())
            untimed = int((right & group["speedup"].isna()).sum())
            share = fast / len(group)
            rows.append({**shared, "p": p, "fast": fast, "total": len(group), "untimed": untimed, "share": share})
    return table(rows, columns=[*by, "p", "fast", "total", "untimed", "share"])


def speedups(
    cells: pd.DataFrame,
    by: Sequence[str] = ("platform",),
    *,
    confidence: float = 0.95,
    replicates: int = _bootstrap.REPLICATES,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Return the geometric mean and the median speedup of kernels that pass, with intervals over tasks.

    .. math::

        G = \left(\prod_{i \in S} s_i\right)^{1/|S|}

    over the stated subset ``S``: measured cells of the group that pass and were timed. What that leaves out is told
    beside it (``cells`` of ``judged``), because a mean over survivors says nothing of the others; read it with
    `fast_p`. The geometric mean is the only one under which normalised results do not depend on what they are
    normalised by.

    Parameters
    ----------
    cells, by
        As for `fast_p`.
    confidence, replicates, seed
        Of the bootstrap over tasks.

    Returns
    -------
    DataFrame
        ``by``, ``cells`` (the size of S), ``judged``, ``tasks``, ``geometric_mean``, ``geometric_mean_low``,
        ``geometric_mean_high``, ``median``, ``median_low``, ``median_high``. With an empty S, ``cells`` is 0 and the
        figures are NaN; with one task the ends of intervals are.

    References
    ----------
    P. J. Fleming, J. J. Wallace: How not to lie with statistics. Communications of the ACM 29(3), 1986.
    """
    checked(cells, (*_COLUMNS, *by), ("kernel", "platform"))
    statistics = {"geometric_mean": _bootstrap.geometric_mean, "median": _bootstrap.median}
    figures = [f"{name}{end}" for name in statistics for end in ("", "_low", "_high")]
    rows = []
    for shared, group in grouped(with_speed(judged(cells, Evidence.MEASURED)), by):
        timed = one_scale(group)[passed(group) & group["speedup"].notna()]
        row = {**shared, "cells": len(timed), "judged": len(group), "tasks": timed["task"].nunique()}
        if len(timed):
            for name, statistic in statistics.items():
                values, tasks = timed["speedup"].to_numpy(np.float64), timed["task"].to_numpy(object)
                found = _bootstrap.over_tasks(
                    statistic, values, tasks, confidence=confidence, replicates=replicates, seed=seed
                )
                row |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        rows.append(row)
    return table(rows, columns=[*by, "cells", "judged", "tasks", *figures])
