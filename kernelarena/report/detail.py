"""What the page tells of one kernel: how far it came on each platform, how it failed, and its source."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.report import text
from kernelarena.report.view import Failure, Row, View, reproduce
from kernelarena.spec import Evidence, Gate, Kernel, Status, Verdict
from kernelarena.spec.condensed import checked

MOST_KERNELS = 300
"""Told of; those that fail first."""
MOST_FAILURES = 600
"""Ways of failing that are told in full; of the others their lines among the gates are left."""
_LONGEST_SOURCE, _ROOM_FOR_SOURCES = 16_000, 600_000


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
    failures = dict(view.failed_rows)
    room, failing = _ROOM_FOR_SOURCES, MOST_FAILURES
    found = []
    for row in kept:
        own = tuple(failures.get(row.id, ())[:failing])
        failing -= len(own)
        source = _source(row.kernel)
        size = sum(len(body) for _, body in source)
        source = source if size <= room else ()
        room -= size if source else 0
        cells = [cell for cell in row.cells if cell is not None]
        found.append(Detail(row, own, source, reproduce(row.kernel, cells, view.data.manifest.hidden_seed)))
    return found, len(rows) - len(kept)


def gates(verdict: Verdict) -> list[Step]:
    """Return what each gate said of a cell, in the order in which they are run."""
    order = list(Gate)
    last = order.index(verdict.gate) if verdict.gate is not None else -1
    steps = []
    for at, gate in enumerate(order):
        if at > last:
            steps.append(Step(gate, "", ""))
        else:
            failed = at == last and verdict.status is Status.FAIL
            steps.append(Step(gate, "fail" if failed else "pass", _told(verdict, gate)))
    return steps


def _told(verdict: Verdict, gate: Gate) -> str:
    if gate is Gate.COMPILE:
        shapes = verdict.visible if verdict.evidence is Evidence.COMPILED else None
        of_shapes = f"{shapes.passed}/{shapes.total} shapes" if shapes is not None and shapes.total else None
        built = text.plural(len(verdict.launches), "specialisation") if verdict.launches else None
        return text.joined([of_shapes, built], ", ")
    if gate is Gate.TIMING:
        ratio = verdict.speedup
        return "" if ratio is None else f"{ratio.median:.2f} × ({ratio.ci[0]:.2f} to {ratio.ci[1]:.2f})"
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
