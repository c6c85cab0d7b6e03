"""The offending line of a kernel's source, with its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.report.text import clean
from kernelarena.spec import Kernel, Location

_WIDTH = 240


@dataclass(frozen=True)
class Line:
    """One line of an excerpt."""

    number: int
    text: str
    hit: bool
    """Whether it is the one that the verdict points at."""


def excerpt(kernel: Kernel | None, location: Location | None, *, around: int = 4) -> list[Line]:
    """Return the line that ``location`` names with up to ``around`` lines on either side.

    Where the sources of the run do not have that line (a generated file, say), the text that the verdict carries is
    all there is. The result is empty where that is empty too.
    """
    if location is None:
        return []
    source = kernel.files.get(location.file, "") if kernel is not None else ""
    lines = source.split("\n")  # as compilers count; splitlines() also breaks at form feeds
    if not source or location.line > len(lines):
        return [Line(location.line, clean(location.text, width=_WIDTH), True)] if location.text else []
    first = max(location.line - around, 1)
    last = min(location.line + around, len(lines))
    return [
        Line(number, clean(lines[number - 1].rstrip("\r"), width=_WIDTH), number == location.line)
        for number in range(first, last + 1)
    ]
