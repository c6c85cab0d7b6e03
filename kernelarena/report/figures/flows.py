"""What is lost on the way from the platform that kernels were written for to the others."""

from __future__ import annotations

from kernelarena import metrics
from kernelarena.metrics import Retention
from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel, Spec
from kernelarena.report.text import one_line, percent, times
from kernelarena.spec import Evidence

ID, TITLE = "flows", "What is lost on the way from home?"
_LINE = 26


def make(material: Material) -> Figure | Missing:
    """Return, for each home, how many of the kernels that pass there pass elsewhere."""
    pairs = material.view.retention
    if not pairs:
        return Missing(ID, TITLE, "No kernel passes on the platform it was written for and was judged on another.")
    homes = dict.fromkeys((pair.home, pair.home_evidence) for pair in pairs)
    panels = tuple(
        Panel(
            f"written for {one_line(home)}, passing there ({kind})",
            _spec([pair for pair in pairs if (pair.home, pair.home_evidence) == (home, kind)]),
            f"Kernels written for {one_line(home)} that pass on other platforms.",
        )
        for home, kind in homes
    )
    kinds = {kind for pair in pairs for kind in (pair.home_evidence, pair.evidence)}
    return Figure(
        ID,
        TITLE,
        "Of the kernels that pass on the platform they were written for (the whole bar), those that pass when carried "
        "to another (the filled part). Kernels that fail at home are in neither; each bar has one kind of evidence at "
        "either end.",
        tuple(kind for kind in Evidence if kind in kinds),
        panels,
        _numbers(material, pairs),
    )


def _spec(pairs: list[Retention]) -> Spec:
    rows = [
        {
            "to": f"{one_line(pair.platform)} ({pair.evidence})",
            "kept": pair.rate.passed,
            "total": pair.rate.total,
            "share": chart.value(pair.rate.share),
            "text": str(pair.rate),
        }
        for pair in pairs
    ]
    tip = chart.told(to="carried to", kept="pass there", total="pass at home", share="share|.1%")
    y = chart.name("to", [str(row["to"]) for row in rows], axis={"ticks": False, "domain": False, "labelLimit": 170})
    most = max(pair.rate.total for pair in pairs)
    x = {"scale": {"domain": [0, most * 1.3]}, "axis": {"tickMinStep": 1, "format": "d", "tickCount": 6, "grid": False}}
    whole = {
        "mark": {"type": "bar", "color": "var(--sunken)", "stroke": "var(--line)"},
        "encoding": {"x": chart.quantity("total", "kernels", **x), "tooltip": tip},
    }
    kept = {
        "mark": {"type": "bar", "color": "var(--pass-bar)"},
        "encoding": {"x": chart.quantity("kept", "kernels", **x), "tooltip": tip},
    }
    label = {
        "mark": {"type": "text", "align": "left", "dx": 5, "color": "var(--soft)"},
        "encoding": {"x": chart.quantity("total", "kernels", **x), "text": {"field": "text"}},
    }
    return chart.chart(rows, [whole, kept, label], height=_LINE * len(rows) + 12, encoding={"y": y})


def _numbers(material: Material, pairs: list[Retention]) -> Numbers:
    """Return survival, and beside it how well the survivors run where both ends were measured."""
    found = metrics.retained(material.cells)
    efficiency = {(row.home, row.platform): row for row in chart.each(found)}
    rows = []
    for pair in pairs:
        row = [pair.home, str(pair.home_evidence), pair.platform, str(pair.evidence), str(pair.rate)]
        both = pair.home_evidence is pair.evidence is Evidence.MEASURED
        kept = efficiency.get((pair.home, pair.platform)) if both else None
        rows.append((*row, percent(pair.rate.share), times(None if kept is None else kept.ratio)))
    columns = ("home", "passes at home by", "carried to", "passes there by", "kept", "share", "efficiency kept")
    return Numbers(columns, tuple(rows), texts=4)
