"""The parts that the figures' specifications have in common: axes, colours, marks and rows of data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from kernelarena.report.figures.figure import Spec
from kernelarena.report.text import one_line

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The name of the form; nothing fetches it."""
COLOURS = 10
"""Custom properties ``--c1`` … of the style sheet that tell platforms apart."""
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4))
_DIGITS = 4


def chart(rows: Sequence[Mapping[str, object]], layers: Sequence[Spec], *, height: int, **fields: Any) -> Spec:
    """Return a chart as wide as its place, of layers over the same rows."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": list(rows)},
        "layer": list(layers),
        **fields,
    }


def records(frame: pd.DataFrame, columns: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the rows of a frame with columns renamed: harmless text, short numbers, null for what is unknown."""
    return [
        {new: value(cell) for new, cell in zip(columns.values(), row, strict=True)}
        for row in each(frame[list(columns)])
    ]


def each(frame: pd.DataFrame) -> Iterator[Any]:
    """Return the rows of a frame, with its columns as attributes."""
    return iter(frame.itertuples(index=False))


def value(cell: object) -> object:
    """Return a datum for a chart: a figure to four digits, text that does nothing, null for what is no number."""
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, int | float):
        number = float(cell)
        return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else None
    return one_line(cell)


def quantity(field: str, title: str | None = None, **fields: Any) -> Spec:
    """Return a channel for a number."""
    return {"field": field, "type": "quantitative", "title": title, **fields}


def ratio(field: str, title: str | None, values: Iterable[float], **axis: Any) -> Spec:
    """Return a channel for what is to be compared by factors: on a logarithmic axis with 1, 2 and 5 of each decade."""
    known = [number for number in values if number > 0 and math.isfinite(number)]
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    steps = (1, 2, 5) if high - low < 4 else (1,)
    ticks = [float(f"{step}e{power}") for power in range(low - 1, high + 1) for step in steps]
    scale = {"type": "log", "nice": False, "padding": 14}
    return quantity(field, title, scale=scale, axis={"values": ticks, **axis})


def share(field: str, title: str | None = None, **fields: Any) -> Spec:
    """Return a channel for a share, on an axis from nothing to all."""
    axis = {"format": ".0%", "tickCount": 5}
    return quantity(field, title, scale={"domain": [0, 1]}, axis=axis, **fields)


def name(field: str, order: Iterable[str] | None = None, title: str | None = None, **fields: Any) -> Spec:
    """Return a channel for names, in the order given."""
    found: Spec = {"field": field, "type": "nominal", "title": title, **fields}
    return found if order is None else {**found, "sort": [one_line(word) for word in order]}


def colours(platforms: Sequence[str], *, legend: bool = True) -> Spec:
    """Return the channel that gives each platform of the run its colour, the same in every figure."""
    return {
        **name("platform"),
        "scale": {
            "domain": [one_line(platform) for platform in platforms],
            "range": [f"var(--c{at % COLOURS + 1})" for at, _ in enumerate(platforms)],
        },
        "legend": {"orient": "bottom", "title": None, "symbolType": "stroke"} if legend else None,
    }


def dashes(platforms: Sequence[str]) -> Spec:
    """Return the channel that tells platforms apart for those to whom colours look alike."""
    return {
        **name("platform"),
        "scale": {
            "domain": [one_line(platform) for platform in platforms],
            "range": [list(DASHES[at % len(DASHES)]) for at, _ in enumerate(platforms)],
        },
        "legend": {"orient": "bottom", "title": None, "symbolType": "stroke"},
    }


def told(**fields: str) -> list[Spec]:
    """Return what a pointer over a mark shows: titles by field, with the field's format after a bar."""
    found = []
    for field, words in fields.items():
        title, _, form = words.partition("|")
        found.append({"field": field, "title": title, **({"format": form} if form else {})})
    return found
