"""What the page tells of one kernel: how far it came on each platform, how it failed, and its source."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.report import text
from kernelarena.report.view import Failure, Row, View, reproduce
from kernelarena.spec import Evidence, Gate, Kernel, Status, Verdict
from kernelarena.spec.condensed import checked

MOST_KERNELS = 300
"""Told of; those that fail first."""
DETAIL, LOG = 3_000, 6_000
"""Characters of what happened, its first, and of a log, its last."""
_ROOM_FOR_FAILURES, _ROOM_FOR_SOURCES = 1_200_000, 500_000
"""Characters on the page: a browser should open it at once, and a mail server take it."""
_ROOM_FOR_SHAPES = 1_400
"""Timed shapes on the page."""
_LONGEST_SOURCE = 16_000
_FRAME = 1_500
"""Characters around a failure's own words, roughly."""


@dataclass(frozen=True)
class Step:
    """What a gate said."""

    gate: Gate
    state: str
    """``pass``, ``fail``, or nothing where the cell did not come there."""
    text: str


@dataclass(frozen=True)
class Detail:
    """One kernel."""

    row: Row
    failures: tuple[Failure, ...]
    """Those for which there is room."""
    untold: int
    """Ways of failing for which there is none."""
    timed: tuple[Verdict, ...]
    """Cells whose timed shapes are told; none where there is no room."""
    source: tuple[tuple[str, str], ...]
    """Its files by name; empty where there is no room."""
    reproduce: str

    @property
    def kernel(self) -> Kernel | None:
        """The kernel, where the run has it."""
        return self.row.kernel

    @property
    def failed_on(self) -> list[str]:
        """The platforms on which it fails, whatever the evidence."""
        return [cell.platform for cell in self.judged if cell.status is Status.FAIL]

    @property
    def judged(self) -> list[Verdict]:
        """Its cells that have a verdict."""
        return [cell for cell in self.row.cells if cell is not None]


def details(view: View) -> tuple[list[Detail], int]:
    """Return the kernels in the order of the run, and for how many there is no room."""
    rows = [row for row in view.rows if any(cell is not None for cell in row.cells)]
    kept = rows
    if len(rows) > MOST_KERNELS:
        chosen = {row.id for row in sorted(rows, key=lambda row: row.passes_everywhere)[:MOST_KERNELS]}
        kept = [row for row in rows if row.id in chosen]
    failures, sources, shapes = _Room(_ROOM_FOR_FAILURES), _Room(_ROOM_FOR_SOURCES), _Room(_ROOM_FOR_SHAPES)
    ways = dict(view.failed_rows)
    found = []
    for row in kept:
        every = ways.get(row.id, ())
        told = tuple(failure for failure in every if failures.take(_length(failure)))
        source = _source(row.kernel)
        source = source if sources.take(sum(len(body) for _, body in source)) else ()
        cells = [cell for cell in row.cells if cell is not None]
        timed = tuple(cell for cell in cells if cell.timings)
        timed = timed if shapes.take(sum(len(cell.timings) for cell in timed)) else ()
        command = reproduce(row.kernel, cells, view.data.manifest)
        found.append(Detail(row, told, len(every) - len(told), timed, source, command))
    return found, len(rows) - len(kept)


class _Room:
    """How much may still be written."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, length: int) -> bool:
        """Return whether there is room for so many characters, which are then taken."""
        if length > self._left:
            return False
        self._left -= length
        return True


def _length(failure: Failure) -> int:
    words = [failure.first.detail[:DETAIL], failure.log[-LOG:], *(line.text for line in failure.source)]
    return _FRAME + sum(map(len, words))


def gates(verdict: Verdict) -> list[Step]:
    """Return what each gate said of a cell, in the order in which they are run."""
    order = list(Gate)
    last = order.index(verdict.gate) if verdict.gate is not None else -1
    steps = []
    for at, gate in enumerate(order):
        told = _told(verdict, gate) if at <= last else ""
        failed = at == last and verdict.status is Status.FAIL
        # what was passed without a word was not asked: nothing is compiled to be interpreted, nor timed there
        steps.append(Step(gate, "fail" if failed else "pass" if told else "", told))
    return steps


def _told(verdict: Verdict, gate: Gate) -> str:
    if gate is Gate.COMPILE:
        shapes = verdict.visible if verdict.evidence is Evidence.COMPILED else None
        of_shapes = f"{shapes.passed}/{shapes.total} shapes" if shapes is not None and shapes.total else None
        built = text.plural(len(verdict.launches), "specialisation") if verdict.launches else None
        return text.joined([of_shapes, built], ", ")
    if gate is Gate.TIMING:
        ratio = verdict.speedup
        if ratio is None:
            return ""
        return f"{ratio.median:.2f} × ({ratio.ci[0]:.2f} to {ratio.ci[1]:.2f}) {ratio.baseline}"
    published = gate is Gate.CORRECTNESS
    tally = verdict.visible if published else verdict.hidden
    calls = checked(verdict)
    error = calls.worst_visible if published else calls.worst_hidden
    worst = f"error up to {error:.2g} of the allowed" if error is not None else None
    return text.joined([f"{tally.passed}/{tally.total}" if tally.total else None, worst], ", ")


def _source(kernel: Kernel | None) -> tuple[tuple[str, str], ...]:
    if kernel is None or sum(map(len, kernel.files.values())) > _LONGEST_SOURCE:
        return ()
    return tuple(kernel.files.items())
