"""What share of the attainable a kernel reaches, and what that makes of its performance portability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from kernelarena.metrics import _bootstrap
from kernelarena.metrics._frames import checked, judged, passed, table, with_speed
from kernelarena.metrics._portability import pp
from kernelarena.spec import Evidence, Status

_CELL = ("task", "kernel", "platform", "evidence", "status")


def with_application_efficiency(cells: pd.DataFrame, timings: pd.DataFrame) -> pd.DataFrame:
    r"""Return the cells with the column ``application``: the best known time over the kernel's own.

    .. math::

        e_a(k, p) = \operatorname{median}_{s} \frac{\min_{j} t(j, p, s)}{t(k, p, s)}

    for shapes :math:`s`, where :math:`j` runs over all kernels of the task that pass on that platform, and over the
    baseline: the best that is known *in this frame*, so that the figure can only fall as more is known. The median over
    shapes keeps one of them from deciding. Kernels that fail have none, and set no record.

    Parameters
    ----------
    cells, timings
        As `metrics.cells` and `metrics.timings` make them, of one run.

    Returns
    -------
    DataFrame
        A copy of ``cells`` with one column more, from 0 to 1; NaN where no shape was timed.

    References
    ----------
    S. J. Pennycook, J. D. Sewall, V. W. Lee: A Metric for Performance Portability. PMBS 2016, arXiv:1611.07409,
    section III: application efficiency.
    """
    checked(cells, _CELL, ("kernel", "platform"))
    checked(timings, (*_CELL, "shape", "seconds", "baseline_seconds"), ("kernel", "platform", "shape"))
    told = timings[passed(timings) & (timings["evidence"] == Evidence.MEASURED.value)]
    place = [told[name] for name in ("task", "platform", "shape")]
    best = np.fmin(
        told["seconds"].groupby(place).transform("min"), told["baseline_seconds"].groupby(place).transform("min")
    )
    shares = (best / told["seconds"]).groupby([told["kernel"], told["platform"]]).median()
    found = shares.rename("application").reset_index()
    bare: pd.DataFrame = cells.drop(columns="application", errors="ignore")
    joined: pd.DataFrame = bare.merge(found, on=["kernel", "platform"], how="left")
    return joined


def performance_portability(
    cells: pd.DataFrame, efficiency: str = "architectural", platforms: Sequence[str] | None = None
) -> pd.DataFrame:
    r"""Return the performance portability of each kernel over a set of platforms.

    .. math::

        PP(k, H) = \begin{cases}
            \dfrac{|H|}{\sum_{i \in H} 1 / e_i(k)} & \text{if } k \text{ is supported on all } i \in H \\
            0 & \text{otherwise}
        \end{cases}

    A kernel that fails on a platform is not supported there. A kernel that nothing is known about there (not judged,
    skipped, lost to infrastructure, untimed) makes PP unknown, which is NaN, unless it fails elsewhere in ``H``: then
    it is 0 whatever the unknown is. Only measured cells count.

    Parameters
    ----------
    cells
        As `metrics.cells` makes them; of any number of tasks, since each kernel is taken by itself.
    efficiency
        The column of shares from 0 to 1: ``architectural``, or ``application``.
    platforms
        ``H``; without it, the platforms on which anything was measured.

    Returns
    -------
    DataFrame
        ``task``, ``kernel``, ``platforms`` (the size of ``H``), ``supported`` (on so many of them), ``unknown`` (on so
        many nothing is known), ``pp``. A kernel that was measured nowhere has no row. Over one platform, PP is the
        efficiency there.

    Raises
    ------
    TypeError, ValueError
        If the frame is none, lacks a column or has two rows for a cell; if ``platforms`` is empty or names one twice;
        if an efficiency is not from 0 to 1.

    References
    ----------
    S. J. Pennycook, J. D. Sewall, V. W. Lee: A Metric for Performance Portability. PMBS 2016, arXiv:1611.07409, eq. 1.
    """
    rows = []
    for (task, kernel), shares in _by_kernel(cells, efficiency, platforms):
        unsupported, unknown = (shares == 0).any(), int(shares.isna().sum())
        value = (
            0.0
            if unsupported
            else float("nan")
            if unknown
            else pp({str(platform): float(share) for platform, share in shares.items()})
        )
        supported = int((shares > 0).sum())
        rows.append((task, kernel, len(shares), supported, unknown, value))
    return table(rows, columns=["task", "kernel", "platforms", "supported", "unknown", "pp"])


def cascade(
    cells: pd.DataFrame, efficiency: str = "architectural", platforms: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return what becomes of each kernel's performance portability as platforms are added, its best one first.

    The ``n``-th row of a kernel holds its ``n``-th best platform, its efficiency there, and PP over the first ``n``:
    two curves that fall, the first as steep as the kernel is specialised, and the second to 0 where support ends.
    Platforms of which nothing is known are left out.

    Parameters
    ----------
    cells, efficiency, platforms
        As for `performance_portability`.

    Returns
    -------
    DataFrame
        ``task``, ``kernel``, ``n`` (from 1), ``platform``, ``efficiency``, ``pp``; platforms with the same efficiency
        in the order of ``platforms``.

    References
    ----------
    J. Sewall, S. J. Pennycook, D. Jacobsen, T. Deakin, S. McIntosh-Smith: Interpreting and Visualizing Performance
    Portability Metrics. P3HPC 2020.
    """
    rows = []
    for (task, kernel), shares in _by_kernel(cells, efficiency, platforms):
        ordered = shares.dropna().sort_values(ascending=False, kind="stable")
        inverse = np.cumsum([1 / share if share else np.inf for share in ordered])
        for n, (platform, share) in enumerate(ordered.items(), start=1):
            rows.append((task, kernel, n, platform, share, n / inverse[n - 1]))
    return table(rows, columns=["task", "kernel", "n", "platform", "efficiency", "pp"])


def retained(cells: pd.DataFrame, column: str = "architectural", *, seed: int = 0) -> pd.DataFrame:
    r"""Return what is left of kernels' efficiency when they are carried from their home to another platform.

    .. math::

        E(h \to p) = \left(\prod_{k \in M} \frac{e_p(k)}{e_h(k)}\right)^{1/|M|}

    over the matched subset ``M``: kernels at home on ``h`` that pass, and have a figure, on both. It says how well the
    survivors run; `retention` says how many survive, and neither is of use alone. Both ends are measured.

    Parameters
    ----------
    cells
        As `metrics.cells` makes them.
    column
        ``architectural``, ``application`` or ``speedup``.
    seed
        Of the bootstrap over tasks.

    Returns
    -------
    DataFrame
        ``home``, ``platform``, ``kernels`` (the size of M), ``ratio``, ``low``, ``high`` (95 %; NaN with one task).
    """
    checked(cells, (*_CELL, "home", column), ("kernel", "platform"))
    told = judged(cells, Evidence.MEASURED)
    told = told[passed(told) & (told[column] > 0)]
    at_home = told[told["home"] == told["platform"]].set_index("kernel")[column]
    away = told[told["home"].notna() & (told["home"] != told["platform"]) & told["kernel"].isin(at_home.index)]
    ratios = away.assign(ratio=away[column] / away["kernel"].map(at_home))
    rows = []
    for (home, platform), group in ratios.groupby(["home", "platform"], sort=False):
        found = _bootstrap.over_tasks(
            _bootstrap.geometric_mean,
            group["ratio"].to_numpy(np.float64),
            group["task"].to_numpy(object),
            seed=seed,
        )
        rows.append((home, platform, len(group), found.value, found.low, found.high))
    return table(rows, columns=["home", "platform", "kernels", "ratio", "low", "high"])


def _by_kernel(
    cells: pd.DataFrame, efficiency: str, platforms: Sequence[str] | None
) -> list[tuple[tuple[str, str], pd.Series[Any]]]:
    """Return the efficiencies of each kernel on every platform of the set: 0 where it fails, NaN where unknown."""
    checked(cells, (*_CELL, efficiency), ("kernel", "platform"))
    told = with_speed(judged(cells, Evidence.MEASURED))
    chosen = list(dict.fromkeys(told["platform"])) if platforms is None else list(platforms)
    if platforms is not None and (not chosen or len(set(chosen)) < len(chosen)):
        raise ValueError(f"no set of platforms: {', '.join(chosen) or 'it is empty'}")
    shares = told[efficiency].where(told["status"] == Status.PASS.value, 0.0)
    outside = told[(shares < 0) | (shares > 1)]
    if len(outside):
        first = outside.iloc[0]
        raise ValueError(
            f"the efficiency {first[efficiency]} of {first['kernel']} on {first['platform']} is not from 0 to 1"
        )
    wide = told.assign(share=shares).pivot(index=["task", "kernel"], columns="platform", values="share")
    order = dict.fromkeys(zip(told["task"], told["kernel"], strict=True))
    return [(key, row) for key, row in zip(order, _rows(wide.reindex(index=list(order), columns=chosen)), strict=True)]


def _rows(wide: pd.DataFrame) -> list[pd.Series[Any]]:
    return [row for _, row in wide.iterrows()]
