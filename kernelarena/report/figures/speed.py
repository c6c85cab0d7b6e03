"""How much faster than the baseline: every cell, and the geometric mean of those that pass."""

from __future__ import annotations

from kernelarena import metrics
from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel
from kernelarena.report.figures.strip import strip
from kernelarena.report.text import times
from kernelarena.spec import Evidence

ID, TITLE = "speed", "How much faster are those that pass?"


def make(material: Material) -> Figure | Missing:
    """Return the speedups of passing cells by platform, with their means and intervals as numbers."""
    cells = material.cells
    timed = cells[(cells["status"] == "pass") & cells["speedup"].notna()]
    if timed.empty:
        return Missing(ID, TITLE, "No passing cell was timed against a baseline.")
    x = chart.ratio("speedup", f"times as fast as {material.baseline}", timed["speedup"], format="~g")
    spec = strip(timed, "speedup", x, material.platforms, "speedup", ".3~g")
    note = (
        f"Each dot is a cell that passes every gate and was timed beside {material.baseline}; the bar is the median of "
        "its platform. What fails is not here: read it together with fast_p. Means are geometric, with 95 % intervals "
        "from resampling tasks."
    )
    panel = Panel("", spec, "Speedups of passing cells by platform.")
    found = metrics.speedups(cells)
    numbers = tuple(
        (
            str(row.platform),
            f"{row.cells} of {row.judged}",
            times(row.geometric_mean),
            f"{times(row.geometric_mean_low)} to {times(row.geometric_mean_high)}",
            times(row.median),
        )
        for row in chart.each(found)
    )
    names = ("platform", "timed of measured", "geometric mean", "95 %", "median")
    return Figure(ID, TITLE, note, (Evidence.MEASURED,), (panel,), Numbers(names, numbers))
