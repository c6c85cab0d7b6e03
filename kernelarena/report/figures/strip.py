"""A strip chart: a dot for every cell, a line of dots for every platform, and where the middle is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Spec

_ROW = 34
MOST_DOTS = 3_000
"""Of one panel; of more, every n-th is drawn."""


def strip(
    rows: Sequence[Mapping[str, object]], platforms: Sequence[str], x: Spec, tip: Sequence[Spec], **fields: Any
) -> Spec:
    """Return a strip chart of rows with ``platform``, ``kernel`` and the field of ``x``.

    The dots of a platform are scattered across its line so that they do not hide each other; the bar marks the median
    of all rows, also of those for which there is no room.
    """
    step = -(-len(rows) // MOST_DOTS) or 1
    middle = {"aggregate": "median", "field": x["field"], "type": "quantitative", "title": x.get("title")}
    dots = {
        "transform": [
            {"window": [{"op": "row_number", "as": "n"}]},
            {"filter": f"datum.n % {step} == 0"},
            {"calculate": "(datum.n * 0.618034) % 1", "as": "across"},
        ],
        "mark": {"type": "circle", "opacity": 0.55, "size": 34, "clip": True},
        "encoding": {
            "x": x,
            "yOffset": {"field": "across", "type": "quantitative", "scale": {"domain": [-0.35, 1.35]}},
            "color": chart.colours(platforms, legend=False),
            "tooltip": list(tip),
        },
    }
    median = {
        "mark": {"type": "tick", "thickness": 2.5, "bandSize": 24, "color": "var(--ink)"},
        "encoding": {
            "x": {**x, **middle},
            "tooltip": [*chart.told(platform="platform"), {**middle, "title": "median", "format": ".3~g"}],
        },
    }
    shown = list(dict.fromkeys(str(row["platform"]) for row in rows))
    y = chart.name("platform", platforms, axis={"ticks": False, "domain": False})
    return chart.chart(rows, [dots, median], height=_ROW * len(shown), encoding={"y": y}, **fields)
