"""How many kernels are right and how much faster than the baseline: fast_p as a curve, over all cells."""

from __future__ import annotations

import numpy as np

from kernelarena import metrics
from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel, Spec
from kernelarena.report.text import percent
from kernelarena.spec import Evidence

ID, TITLE = "fast", "How many kernels are right and fast?"
_UPTO, _STEP = 3.0, 0.05
TOLD = (0.8, 1.0, 1.5, 2.0)


def make(material: Material) -> Figure | Missing:
    """Return fast_p over a range of p, a line for each platform."""
    if material.cells["speedup"].isna().all():
        return Missing(ID, TITLE, "No measured cell was timed against a baseline.")
    thresholds = [round(float(p), 2) for p in np.arange(0, _UPTO + _STEP / 2, _STEP)]
    found = metrics.fast_p(material.cells, thresholds)
    rows = chart.records(found, {name: name for name in ("platform", "p", "share", "fast", "total")})
    told = metrics.fast_p(material.cells, TOLD)
    untimed = int(told.groupby("platform")["untimed"].first().sum())
    note = (
        "fast_p: the share of all measured cells whose kernel passes every gate and is more than p times as fast as "
        f"{material.baseline}. Kernels that fail stay in the denominator, so that none gets faster by failing."
    )
    if untimed:
        note += f" {untimed} passing cells have no speedup and count as not fast."
    grouped = told.groupby("platform", sort=False)
    numbers = tuple(
        (str(platform), *(f"{percent(row.share)} ({row.fast}/{row.total})" for row in chart.each(group)))
        for platform, group in grouped
    )
    panel = Panel("", _spec(rows, material), "Share of cells faster than p, falling as p grows.")
    columns = ("platform", *(f"p = {p:g}" for p in TOLD))
    return Figure(ID, TITLE, note, (Evidence.MEASURED,), (panel,), Numbers(columns, numbers))


def _spec(rows: list[dict[str, object]], material: Material) -> Spec:
    platforms = material.measured()
    x = chart.quantity("p", f"p, times as fast as {material.baseline}", axis={"format": "~g", "tickCount": 7})
    tip = chart.told(platform="platform", p="p", share="share|.1%", fast="cells", total="of")
    line: Spec = {
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": chart.share("share", "of all measured cells"),
            "color": chart.colours(platforms),
            "strokeDash": chart.dashes(platforms),
            "tooltip": tip,
        },
    }
    even = {
        "data": {"values": [{"at": 1}]},
        "mark": {"type": "rule", "color": "var(--soft)", "strokeDash": [3, 3]},
        "encoding": {"x": chart.quantity("at", x["title"])},
    }
    return chart.chart(rows, [line, even], height=260)
