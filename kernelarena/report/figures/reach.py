"""How far kernels carry: on how many of the platforms they pass."""

from __future__ import annotations

from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel
from kernelarena.spec import Evidence

ID, TITLE = "reach", "On how many platforms do kernels pass?"


def make(material: Material) -> Figure | Missing:
    """Return, for each kind of evidence, how many kernels pass on at least n platforms."""
    panels, rows = [], []
    kinds = []
    for kind in material.view.evidence:
        counts = _at_least(material, kind)
        if len(counts) < 3:
            continue
        kinds.append(kind)
        total = counts[0]
        data = [
            {"n": str(n), "kernels": count, "share": chart.value(count / total), "text": f"{count} of {total}"}
            for n, count in enumerate(counts)
            if n
        ]
        panels.append(Panel(kind.value, _spec(data), f"Kernels by the number of {kind} platforms that they pass on."))
        rows += [(kind.value, str(row["n"]), str(row["text"])) for row in data]
    if not panels:
        return Missing(ID, TITLE, "It needs two platforms judged with the same kind of evidence.")
    return Figure(
        ID,
        TITLE,
        "Kernels that pass on at least so many platforms, of all that were judged with that evidence: the further "
        "right the bars stay high, the less of the work is tied to one chip.",
        tuple(kinds),
        tuple(panels),
        Numbers(("evidence", "at least", "kernels"), tuple(rows), texts=1),
    )


def _at_least(material: Material, kind: Evidence) -> list[int]:
    """Return the number of kernels that pass on at least 0, 1, … of the platforms of that kind."""
    spreads = [row.spread[kind] for row in material.view.rows if kind in row.spread]
    platforms = {platform for spread in spreads for platform in (*spread.passed, *spread.failed)}
    return [sum(len(spread.passed) >= n for spread in spreads) for n in range(len(platforms) + 1)]


def _spec(rows: list[dict[str, object]]) -> dict[str, object]:
    x = chart.name("n", [str(row["n"]) for row in rows], "platforms, at least", axis={"labelAngle": 0})
    tip = chart.told(n="platforms, at least", text="kernels", share="share|.1%")
    bar = {
        "mark": {"type": "bar", "color": "var(--pass-bar)", "width": {"band": 0.7}},
        "encoding": {"y": chart.share("share"), "tooltip": tip},
    }
    label = {
        "mark": {"type": "text", "dy": -7, "baseline": "bottom", "color": "var(--soft)", "clip": False},
        "encoding": {"y": chart.share("share"), "text": {"field": "kernels", "type": "quantitative"}},
    }
    return chart.chart(rows, [bar, label], height=190, encoding={"x": x})
