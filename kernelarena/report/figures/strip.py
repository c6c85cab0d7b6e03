"""A strip chart: a dot for every cell, a line of dots for every platform, and where the middle is."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Spec

MOST_DOTS = 400
"""Of one chart; of more cells, every n-th is drawn."""
_LINE = 34
_GOLDEN = 0.618034


def strip(cells: pd.DataFrame, field: str, x: Spec, platforms: Sequence[str], title: str, form: str) -> Spec:
    """Return a strip chart of a column of cells by platform.

    Parameters
    ----------
    cells
        With ``kernel``, ``platform`` and the column ``field``, none of them missing.
    field, x
        The column, and its channel.
    platforms
        Of the run, in its order, which gives each its colour and its place.
    title, form
        What the quantity is called where a pointer rests on a dot, and how it is written there.

    The dots of a platform are scattered across its line so that they do not hide each other. The bar marks the median
    of all of its cells, also of those that are not drawn.
    """
    step = -(-len(cells) // MOST_DOTS) or 1
    drawn = chart.records(cells.iloc[::step], {"kernel": "kernel", "platform": "platform", field: field})
    for at, row in enumerate(drawn):
        row["across"] = round(at * _GOLDEN % 1, 2)
    middle = cells.groupby("platform", sort=False)[field].median().reset_index()
    dots = {
        "mark": {"type": "circle", "opacity": 0.55, "size": 34},
        "encoding": {
            "x": x,
            "yOffset": {"field": "across", "type": "quantitative", "scale": {"domain": [-0.35, 1.35]}},
            "color": chart.colours(platforms, legend=False),
            "tooltip": chart.told(kernel="kernel", platform="platform", **{field: f"{title}|{form}"}),
        },
    }
    median = {
        "data": {"values": chart.records(middle, {"platform": "platform", field: field})},
        "mark": {"type": "tick", "thickness": 2.5, "size": 22, "orient": "vertical", "color": "var(--ink)"},
        "encoding": {
            "x": x,
            "yOffset": {"datum": 0.5},
            "tooltip": chart.told(platform="platform", **{field: f"median {title}|{form}"}),
        },
    }
    y = chart.name("platform", platforms, axis={"ticks": False, "domain": False})
    return chart.chart(drawn, [dots, median], height=_LINE * len(middle), encoding={"y": y})
