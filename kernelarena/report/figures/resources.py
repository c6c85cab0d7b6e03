"""What kernels need of a chip, by what their compilers said: registers, shared memory, occupancy."""

from __future__ import annotations

import pandas as pd

from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Panel, Spec
from kernelarena.report.figures.spread import spread
from kernelarena.report.figures.strip import strip
from kernelarena.report.text import percent, size
from kernelarena.spec import Evidence

ID, TITLE = "resources", "What do they need of a chip?"
_QUANTITIES = {
    "registers": ("registers a thread", "registers", ",.0f"),
    "shared_memory": ("shared memory a block", "KiB", ",.4~g"),
    "occupancy": ("occupancy", "of the most warps", ".0%"),
}
_WRITTEN = {"registers": lambda value: f"{value:,.0f}", "shared_memory": size, "occupancy": percent}


def make(material: Material) -> Figure | Missing:
    """Return registers, shared memory and occupancy by platform, charts for each kind of evidence."""
    told = material.cells[material.cells["evidence"].notna()]
    panels, kinds = [], []
    for kind in Evidence:
        of_kind = told[told["evidence"] == kind.value]
        for column, (title, _, _) in _QUANTITIES.items():
            known = of_kind[of_kind[column].notna()]
            if known.empty:
                continue
            if kind not in kinds:
                kinds.append(kind)
            panels.append(Panel(f"{title} ({kind})", _spec(known, column, material), f"{title} by platform."))
    if not panels:
        return Missing(ID, TITLE, "No compiler said what a kernel needs.")
    note = (
        "Of each cell, the launch with the lowest occupancy among those that count; the bar is the platform’s median. "
        "Occupancy is the warps that a multiprocessor can hold at a time over the most that it holds of any kernel. "
        f"{_spilling(told)}"
    )
    numbers = {column: (title, _WRITTEN[column]) for column, (title, _, _) in _QUANTITIES.items()}
    return Figure(ID, TITLE, note, tuple(kinds), tuple(panels), spread(told, numbers))


def _spec(known: pd.DataFrame, column: str, material: Material) -> Spec:
    title, unit, form = _QUANTITIES[column]
    if column == "shared_memory":
        known = known.assign(shared_memory=known["shared_memory"] / 1024)
    x = chart.share(column, unit) if column == "occupancy" else chart.quantity(column, unit)
    return strip(known, column, x, material.platforms, f"{title}, {unit}", form)


def _spilling(told: pd.DataFrame) -> str:
    parts = []
    for kind in Evidence:
        known = told[(told["evidence"] == kind.value) & told["spills"].notna()]
        if len(known):
            parts.append(f"{int((known['spills'] > 0).sum())} of {len(known)} {kind} cells spill registers")
    return f"{'; '.join(parts)}." if parts else ""
