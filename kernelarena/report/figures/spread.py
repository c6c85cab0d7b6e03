"""Quartiles by platform, as the table beside a strip chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from kernelarena.report.figures.figure import Numbers


def spread(cells: pd.DataFrame, quantities: Mapping[str, tuple[str, Callable[[float], str]]]) -> Numbers:
    """Return the number of cells and the quartiles of each quantity, a row for each platform, evidence and quantity.

    Parameters
    ----------
    cells
        With ``platform``, ``evidence`` and the columns named; NaN is left out.
    quantities
        By column: what it is called, and how a figure of it is written.
    """
    rows = []
    for (platform, evidence), group in cells.groupby(["platform", "evidence"], sort=False):
        for column, (title, written) in quantities.items():
            known = group[column].dropna()
            if len(known):
                quartiles = (written(float(known.quantile(at))) for at in (0, 0.25, 0.5, 0.75, 1))
                rows.append((str(platform), str(evidence), title, str(len(known)), *quartiles))
    columns = ("platform", "evidence", "what", "cells", "least", "25 %", "median", "75 %", "most")
    return Numbers(columns, tuple(rows), texts=3)
