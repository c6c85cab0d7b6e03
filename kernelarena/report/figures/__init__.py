"""The report's figures: which there are, in the order in which they are read. Each is a module of its own."""

from __future__ import annotations

from kernelarena.report.figures import (
    authors,
    cascade,
    families,
    fast,
    flows,
    reach,
    resources,
    roofline,
    speed,
    telemetry,
)
from kernelarena.report.figures.figure import Figure, Material, Missing, Numbers, Panel
from kernelarena.report.view import View

MAKERS = (reach, flows, families, cascade, fast, speed, roofline, telemetry, resources, authors)
"""Modules with ``ID``, ``TITLE`` and ``make``."""

__all__ = ["MAKERS", "Figure", "Missing", "Numbers", "Panel", "figures"]


def figures(view: View) -> tuple[list[Figure], list[Missing]]:
    """Return the figures that the run has data for, and those that it has none for, with the reason."""
    material = Material(view)
    made = [module.make(material) for module in MAKERS]
    return [one for one in made if isinstance(one, Figure)], [one for one in made if isinstance(one, Missing)]
