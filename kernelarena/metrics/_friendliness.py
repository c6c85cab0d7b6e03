"""How well those who write kernels for a platform fare on it, beside kernels that were carried to it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kernelarena.metrics._frames import checked, grouped, judged, one_scale, passed, table
from kernelarena.spec import Evidence, Gate

_COLUMNS = (
    *("task", "kernel", "home", "platform", "evidence", "status", "gate"),
    *("hidden_total", "speedup", "baseline", "iterations", "tokens"),
)
WRITTEN, CARRIED = "written", "carried"


def agent_friendliness(cells: pd.DataFrame) -> pd.DataFrame:
    r"""Return, for each platform and kind of evidence, success and its price: written for it, and carried to it.

    With :math:`N` the judged cells of a group and :math:`P` those that pass:

    - ``success`` :math:`= |P| / |N|`;
    - ``hidden_success``: the same over cells for which the hidden gate was on; NaN where nothing ran;
    - ``speedup``: geometric mean over passing cells that were timed;
    - ``iterations_per_success`` :math:`= \sum_{K} \text{iterations} / |P \cap K|` where :math:`K` holds the cells whose
      provenance tells, failures included: what was spent on kernels that failed is part of the price of those that
      pass. ``iterations_known`` is :math:`|K|`. Likewise for ``tokens``.

    What provenance does not tell stays unknown: NaN, never 0; without a success the price is NaN as well. Kernels
    without a home are in neither group.

    Parameters
    ----------
    cells
        As `metrics.cells` makes them, with kernels.

    Returns
    -------
    DataFrame
        ``platform``, ``evidence``, ``origin`` (``written`` or ``carried``), ``judged``, ``passed``, ``success``,
        ``hidden_success``, ``speedup``, ``iterations_per_success``, ``iterations_known``, ``tokens_per_success``,
        ``tokens_known``.

    References
    ----------
    Tokens per success: KernelGenBench, documentation, Evaluation metrics.
    """
    checked(cells, _COLUMNS, ("kernel", "platform"))
    told = judged(cells)
    told = told[told["home"].notna()]
    told = told.assign(origin=np.where(told["home"] == told["platform"], WRITTEN, CARRIED))
    rows = []
    for shared, group in grouped(told, ("platform", "evidence", "origin")):
        right = passed(one_scale(group))
        row = {**shared, "judged": len(group), "passed": int(right.sum()), "success": float(right.mean())}
        row["hidden_success"] = _hidden(group) if shared["evidence"] != Evidence.COMPILED.value else float("nan")
        logs = np.log(group.loc[right, "speedup"]).dropna()
        row["speedup"] = float(np.exp(logs.mean())) if len(logs) else float("nan")
        for spent in ("iterations", "tokens"):
            known = group[spent].notna()
            successes = int((right & known).sum())
            row[f"{spent}_per_success"] = float(group[spent].sum()) / successes if successes else float("nan")
            row[f"{spent}_known"] = int(known.sum())
        rows.append(row)
    columns = ["platform", "evidence", "origin", "judged", "passed", "success", "hidden_success", "speedup"]
    columns += [f"{spent}_{what}" for spent in ("iterations", "tokens") for what in ("per_success", "known")]
    return table(rows, columns=columns)


def _hidden(group: pd.DataFrame) -> float:
    """Share of cells right on hidden shapes, without those that passed and were asked none."""
    right = passed(group)
    cells = group[~right | (group["hidden_total"] > 0)]
    reached = passed(cells) | (cells["gate"] == Gate.HIDDEN.value)
    return float(passed(cells).mean()) if reached.any() else float("nan")
