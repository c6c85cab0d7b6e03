"""Under which power and clocks cells were measured, and what a call cost in energy."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kernelarena.report.figures import chart
from kernelarena.report.figures.figure import Figure, Material, Missing, Panel, Spec
from kernelarena.report.figures.spread import spread
from kernelarena.report.figures.strip import strip
from kernelarena.spec import Evidence
from kernelarena.spec.verdict import Telemetry

ID, TITLE = "telemetry", "Under which power and clocks?"
_QUANTITIES = {
    "power": ("power", "W"),
    "clock": ("clock", "MHz"),
    "energy": ("energy a call", "J"),
    "temperature": ("temperature", "°C"),
}


def make(material: Material) -> Figure | Missing:
    """Return what the devices said of themselves while cells were timed, a chart for each quantity."""
    told = _frame(material)
    known = [name for name in _QUANTITIES if told[name].notna().any()]
    if not known:
        return Missing(ID, TITLE, "No device said anything of its power, clocks or energy.")
    panels = []
    for name in known:
        title, unit = _QUANTITIES[name]
        of_it = told[told[name].notna()]
        x = _axis(name, unit, of_it[name])
        spec = strip(of_it, name, x, material.platforms, f"{title}, {unit}", ".4~g")
        panels.append(Panel(title, spec, f"{title.capitalize()} of measured cells in {unit}, by platform."))
    silent = [words[0] for name, words in _QUANTITIES.items() if name not in known]
    note = "The state of each device while a cell’s samples were taken; the bar is the platform’s median."
    if silent:
        note += f" No device told of its {' or '.join(silent)}."
    numbers = {name: (f"{_QUANTITIES[name][0]}, {_QUANTITIES[name][1]}", _figure) for name in known}
    return Figure(ID, TITLE, note, (Evidence.MEASURED,), tuple(panels), spread(told, numbers))


def _axis(name: str, unit: str, values: pd.Series[float]) -> Spec:
    """Return an axis for a quantity: kernels differ in energy by factors, in the others by so and so much."""
    if name == "energy" and (values > 0).all():
        return chart.ratio(name, unit, values, format="~g")
    return chart.quantity(name, unit, scale={"zero": False, "padding": 14})


def _frame(material: Material) -> pd.DataFrame:
    rows = [
        {"kernel": verdict.kernel, "platform": verdict.platform, "evidence": verdict.evidence, **_of(verdict.telemetry)}
        for verdict in material.view.data.verdicts
        if verdict.telemetry is not None and verdict.evidence is Evidence.MEASURED
    ]
    frame: pd.DataFrame = pd.DataFrame(rows, columns=["kernel", "platform", "evidence", *_QUANTITIES])
    typed: pd.DataFrame = frame.astype(dict.fromkeys(_QUANTITIES, "float64")).replace([np.inf, -np.inf], np.nan)
    return typed


def _of(told: Telemetry) -> dict[str, float | None]:
    return {name: getattr(told, name) for name in _QUANTITIES}


def _figure(value: float) -> str:
    return f"{value:,.4g}"
