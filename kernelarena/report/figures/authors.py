"""How easy a platform is to write for: kernels written for it beside kernels carried to it."""

from __future__ import annotations

import pandas as pd

from kernelarena import metrics
from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel, Spec
from kernelarena.report.text import percent
from kernelarena.spec import Evidence

ID, TITLE = "authors", "Written for it, or carried to it?"
_WORDS = {"written": "written for it", "carried": "carried to it"}


def make(material: Material) -> Figure | Missing:
    """Return the success of kernels at home and abroad by platform, a chart for each kind of evidence."""
    found = metrics.agent_friendliness(material.cells)
    found = found[found.groupby(["evidence", "platform"])["origin"].transform("nunique") == len(_WORDS)]
    if found.empty:
        return Missing(ID, TITLE, "No platform has both kernels that were written for it and kernels carried to it.")
    found = found.assign(origin=found["origin"].map(_WORDS))
    kinds = [kind for kind in Evidence if (found["evidence"] == kind.value).any()]
    panels = []
    for kind in kinds:
        own = found[found["evidence"] == kind.value]
        columns = ("platform", "origin", "success", "passed", "judged")
        rows = chart.records(own, {name: name for name in columns})
        spec = _spec(rows, material.platforms)
        panels.append(Panel(kind.value, spec, "Share of kernels that pass, at home and abroad, by platform."))
    return Figure(
        ID,
        TITLE,
        "The share that passes of the kernels written for a platform and of those written for another. Where the two "
        "lie far apart, it is the authors’ knowledge of the chip that differs. Kernels without a known home are in "
        "neither.",
        tuple(kinds),
        tuple(panels),
        _numbers(found),
    )


def _spec(rows: list[dict[str, object]], platforms: list[str]) -> Spec:
    shown = {row["platform"] for row in rows}
    y = chart.name("platform", platforms, axis={"ticks": False, "domain": False})
    tip = chart.told(platform="platform", origin="kernels", success="pass|.1%", passed="passed", judged="judged")
    between = {
        "mark": {"type": "rule", "color": "var(--line)", "strokeWidth": 3},
        "encoding": {
            "x": chart.share("success", "of the kernels", aggregate="min"),
            "x2": {"field": "success", "aggregate": "max"},
        },
    }
    kind = {**chart.name("origin"), "legend": {"orient": "top", "title": None}}
    words = list(_WORDS.values())
    dots = {
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
        "encoding": {
            "x": chart.share("success", "of the kernels"),
            "color": {**kind, "scale": {"domain": words, "range": ["var(--c1)", "var(--c2)"]}},
            "shape": {**kind, "scale": {"domain": words, "range": ["circle", "diamond"]}},
            "tooltip": tip,
        },
    }
    return chart.chart(rows, [between, dots], height=32 * len(shown) + 10, encoding={"y": y})


def _numbers(found: pd.DataFrame) -> Numbers:
    rows = tuple(
        (
            str(row.platform),
            str(row.evidence),
            str(row.origin),
            f"{row.passed} of {row.judged}",
            percent(row.success),
            percent(row.hidden_success),
            _price(row.iterations_per_success, row.iterations_known),
            _price(row.tokens_per_success, row.tokens_known),
        )
        for row in chart.each(found)
    )
    columns = ("platform", "evidence", "kernels", "passed", "success", "hidden", "iterations each", "tokens each")
    return Numbers(columns, rows, texts=3)


def _price(value: float, known: int) -> str:
    return "unknown" if pd.isna(value) else f"{value:,.1f} (from {known:,} cells)"
