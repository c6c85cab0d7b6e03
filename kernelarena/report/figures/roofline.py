"""How near the kernels come to what the chip could do."""

from __future__ import annotations

from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Panel
from kernelarena.report.figures.spread import spread
from kernelarena.report.figures.strip import strip
from kernelarena.report.text import percent
from kernelarena.spec import Evidence

ID, TITLE = "roofline", "How near to the roofline?"


def make(material: Material) -> Figure | Missing:
    """Return the architectural efficiency of passing cells by platform."""
    cells = material.cells
    told = cells[(cells["status"] == "pass") & cells["architectural"].notna()]
    if told.empty:
        return Missing(ID, TITLE, "No passing cell was measured against its platform’s roofline.")
    x = chart.share("architectural", "roofline’s time over the kernel’s")
    spec = strip(told, "architectural", x, material.platforms, "of the roofline", ".1%")
    note = (
        "Each dot is a passing cell: the least time that its task can take on that chip, by memory bandwidth and peak "
        "arithmetic, over the time that the kernel took. The bar is the platform’s median."
    )
    panel = Panel("", spec, "Share of the roofline reached, by platform.")
    return Figure(ID, TITLE, note, (Evidence.MEASURED,), (panel,), spread(told, {"architectural": ("share", percent)}))
