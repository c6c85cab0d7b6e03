"""Whether kernels stay right on shapes that they have never seen, by the family that the shapes were drawn from."""

from __future__ import annotations

from kernelarena.metrics import Generalisation, Rate
from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel, Spec
from kernelarena.report.text import percent, plural
from kernelarena.spec import HIDDEN_FAMILIES

ID, TITLE = "families", "Would the published shapes have misled?"
_VISIBLE, _HIDDEN = "right on visible shapes", "also right on hidden ones"
_LINE = 30


def make(material: Material) -> Figure | Missing:
    """Return the pass rates on visible and hidden shapes and by family, a chart for each kind of evidence."""
    panels, numbers, kinds = [], [], []
    for kind in material.view.evidence:
        rows = [row for column in material.view.columns for row in _rows(column.id, column.generalisation.get(kind))]
        if not rows:
            continue
        kinds.append(kind)
        panels.append(Panel(kind.value, _spec(rows, material.platforms), "Share of shapes passed, family by platform."))
        numbers += [(str(row["platform"]), kind.value, str(row["line"]), str(row["text"])) for row in rows]
    if not panels:
        return Missing(ID, TITLE, "No kernel that ran got as far as the hidden shapes.")
    return Figure(
        ID,
        TITLE,
        f"The first two lines count kernels, and what lies between them is the generalisation gap: {_gaps(material)}. "
        "The lines below count hidden shapes by family, over the kernels that got that far.",
        tuple(kinds),
        tuple(panels),
        Numbers(("platform", "evidence", "what", "passed"), tuple(numbers), texts=3),
    )


def _gaps(material: Material) -> str:
    parts = [
        f"{percent(found.gap)} on {column.id} ({kind})"
        for column in material.view.columns
        for kind, found in column.generalisation.items()
    ]
    left = len(parts) - 3
    return "; ".join(parts[:3]) + (f", and {plural(left, 'more platform')} below" if left > 0 else "")


def _rows(platform: str, found: Generalisation | None) -> list[dict[str, object]]:
    if found is None:
        return []
    lines: dict[str, Rate] = {_VISIBLE: found.visible, _HIDDEN: found.hidden}
    lines |= {family.value: found.families[family] for family in HIDDEN_FAMILIES if family in found.families}
    return [
        {
            "platform": chart.value(platform),
            "line": line,
            "share": chart.value(rate.share),
            "text": f"{rate.passed}/{rate.total}",
        }
        for line, rate in lines.items()
    ]


def _spec(rows: list[dict[str, object]], platforms: list[str]) -> Spec:
    order = [_VISIBLE, _HIDDEN, *(family.value for family in HIDDEN_FAMILIES)]
    shown = [line for line in order if any(row["line"] == line for row in rows)]
    x = chart.name("platform", platforms, axis={"orient": "top", "labelAngle": 0, "ticks": False, "domain": False})
    y = chart.name("line", order, axis={"ticks": False, "domain": False, "labelLimit": 200})
    tip = chart.told(platform="platform", line="what", text="passed", share="share|.1%")
    fill = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "range": ["var(--fail-measured)", "var(--sunken)", "var(--pass-measured)"]},
        "legend": None,
    }
    tile = {"mark": {"type": "rect", "stroke": "var(--surface)"}, "encoding": {"color": fill, "tooltip": tip}}
    label = {"mark": {"type": "text", "color": "var(--ink)"}, "encoding": {"text": {"field": "text"}, "tooltip": tip}}
    return chart.chart(rows, [tile, label], height=_LINE * len(shown), encoding={"x": x, "y": y})
