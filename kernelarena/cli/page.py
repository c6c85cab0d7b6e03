"""How commands that list and show put things on a page: JSON, tables of facts, and quantities with their units."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelarena.cli.streams import emit


def print_json(value: Any) -> None:
    """Print ``value`` as indented JSON on standard output."""
    emit(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def console() -> Console:
    """Write to what stdout is now: where it is no terminal, plain text of 80 columns unless COLUMNS says otherwise."""
    return Console(file=sys.stdout, highlight=False)


def pairs(rows: Iterable[tuple[str, str]]) -> Padding:
    """Return an indented table of names and values; what has no value is left out."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if value:
            table.add_row(Text(name), Text(value))
    return Padding(table, (0, 0, 0, 2))


def binary(count: int) -> str:
    """``163840`` as ``160 KiB``, with at most two decimals."""
    value, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.2f}".rstrip("0").rstrip(".") + f" {units[0]}"


def si(value: float, digits: int = 6) -> str:
    """``5.3e12`` as ``5.3 T``: a decimal prefix for the unit that follows, and at most so many significant digits."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.{digits}g} {prefix}"
    return f"{value:.{digits}g} "


def duration(seconds: float) -> str:
    """``2.4e-5`` as ``24 µs``, with three significant digits."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
