"""The cascade: what becomes of efficiency, and of performance portability, as platforms are added."""

from __future__ import annotations

import pandas as pd

from kernelarena import metrics
from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel, Spec
from kernelarena.report.text import one_line, plural
from kernelarena.spec import Evidence

ID, TITLE = "cascade", "How portable is the performance?"
MOST_KERNELS = 150
"""Lines drawn; those of the highest performance portability."""


def make(material: Material) -> Figure | Missing:
    """Return both curves of Sewall et al.'s cascade plot, a thin line for each kernel and their median."""
    measured = material.measured()
    if len(measured) < 2:
        return Missing(ID, TITLE, "Performance portability needs kernels measured on at least two platforms.")
    if material.cells["architectural"].isna().all():
        return Missing(ID, TITLE, "No measured cell has an efficiency against the roofline.")
    steps = metrics.cascade(material.cells, platforms=measured)
    figures = metrics.performance_portability(material.cells, platforms=measured)
    ranked = figures.sort_values("pp", ascending=False, kind="stable")
    drawn = steps[steps["kernel"].isin(ranked["kernel"].head(MOST_KERNELS))]
    columns = {"kernel": "kernel", "n": "n", "platform": "platform", "efficiency": "efficiency", "pp": "pp"}
    rows = chart.records(drawn, columns)
    panels = (
        Panel("efficiency on the n-th best platform", _spec(rows, "efficiency"), "Efficiency falls as platforms add."),
        Panel("performance portability over the best n", _spec(rows, "pp"), "Performance portability falls likewise."),
    )
    return Figure(ID, TITLE, _note(figures, measured), (Evidence.MEASURED,), panels, _numbers(ranked))


def _note(figures: pd.DataFrame, measured: list[str]) -> str:
    supported, unknown = int((figures["pp"] > 0).sum()), int(figures["pp"].isna().sum())
    text = (
        "Efficiency is the roofline’s time over the kernel’s; performance portability (Pennycook) is its harmonic mean "
        "over the platforms, and 0 once one of them is unsupported. Thin lines are kernels, the bold one their median. "
        f"{supported} of {plural(len(figures), 'kernel')} are above 0 over all {len(measured)} platforms"
    )
    best = next(chart.each(figures.nlargest(1, "pp"))) if supported else None
    text += f"; the best is {one_line(best.kernel)} at {best.pp:.2f}" if best is not None else ""
    return f"{text}; of {unknown} it is not known." if unknown else f"{text}."


def _spec(rows: list[dict[str, object]], field: str) -> Spec:
    x = {"field": "n", "type": "ordinal", "title": "platforms, a kernel’s best first", "axis": {"labelAngle": 0}}
    tip = chart.told(kernel="kernel", n="n", platform="platform", **{field: f"{field}|.2f"})
    lines = {
        "params": [
            {"name": "near", "select": {"type": "point", "on": "pointerover", "fields": ["kernel"], "nearest": False}}
        ],
        "mark": {"type": "line", "color": "var(--c1)", "point": {"size": 14}},
        "encoding": {
            "y": chart.share(field),
            "detail": {"field": "kernel"},
            "opacity": {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0.35},
            "strokeWidth": {"condition": {"param": "near", "empty": False, "value": 2.5}, "value": 1},
            "tooltip": tip,
        },
    }
    middle = {
        "mark": {"type": "line", "strokeWidth": 3, "color": "var(--ink)", "point": {"size": 50, "color": "var(--ink)"}},
        "encoding": {
            "y": chart.share(field, aggregate="median"),
            "tooltip": [*chart.told(n="n"), {**chart.share(field, "median", aggregate="median"), "format": ".2f"}],
        },
    }
    return chart.chart(rows, [lines, middle], height=230, encoding={"x": x})


def _numbers(ranked: pd.DataFrame) -> Numbers:
    rows = tuple(
        (
            str(row.kernel),
            f"{row.supported} of {row.platforms}",
            str(row.unknown),
            "unknown" if pd.isna(row.pp) else f"{row.pp:.3f}",
        )
        for row in chart.each(ranked)
    )
    return Numbers(("kernel", "supported on", "unknown on", "PP"), rows)
