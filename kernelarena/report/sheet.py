"""The table of all cells on the page, which scripts of the page search, sort and filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kernelarena.report import text
from kernelarena.report.view import View
from kernelarena.spec import Status, Verdict

MOST_ROWS = 3_000
"""Of the table; whoever needs more reads ``report.csv`` or ``report.json``."""

_Figure = Callable[[Verdict], "tuple[str, float] | None"]


@dataclass(frozen=True)
class Row:
    """One cell."""

    verdict: Verdict
    outcome: str
    """Its reason, or that it passed."""
    figures: tuple[tuple[str, float] | None, ...]
    """As written and as sorted, in the order of `Sheet.columns`; None where nothing is known."""


@dataclass(frozen=True)
class Sheet:
    """The table."""

    columns: tuple[str, ...]
    """Those of the figures that any cell has."""
    rows: tuple[Row, ...]
    left_out: int
    """Cells for which there is no room."""
    choices: dict[str, tuple[str, ...]]
    """What can be chosen in each filter; only where there is a choice."""


def make(view: View) -> Sheet:
    """Return the cells as a table: those that fail first where not all have room."""
    verdicts: Sequence[Verdict] = view.data.verdicts
    kept = verdicts if len(verdicts) <= MOST_ROWS else sorted(verdicts, key=lambda v: v.status is Status.PASS)
    kept = kept[:MOST_ROWS]
    figures = {name: [figure(verdict) for verdict in kept] for name, figure in _FIGURES.items()}
    known = {name: column for name, column in figures.items() if any(column)}
    rows = tuple(
        Row(verdict, outcome(verdict), tuple(column[at] for column in known.values()))
        for at, verdict in enumerate(kept)
    )
    return Sheet(tuple(known), rows, len(verdicts) - len(kept), _choices(view, kept))


def outcome(verdict: Verdict) -> str:
    """Return what became of a cell, in one word of the vocabulary."""
    return str(verdict.reason if verdict.reason is not None else verdict.status)


def _choices(view: View, verdicts: Iterable[Verdict]) -> dict[str, tuple[str, ...]]:
    verdicts = list(verdicts)
    found = {
        "platform": [column.id for column in view.columns],
        "evidence": [kind.value for kind in view.evidence],
        "status": [status.value for status in Status if any(v.status is status for v in verdicts)],
        "outcome": sorted({outcome(verdict) for verdict in verdicts if verdict.reason is not None}),
        "task": sorted({verdict.task for verdict in verdicts}),
    }
    return {name: tuple(text.one_line(word) for word in options) for name, options in found.items() if len(options) > 1}


def _tally(name: str) -> _Figure:
    def written(verdict: Verdict) -> tuple[str, float] | None:
        tally = getattr(verdict, name)
        return (f"{tally.passed}/{tally.total}", tally.passed / tally.total) if tally.total else None

    return written


def _resource(name: str, write: Callable[[float], str]) -> _Figure:
    def written(verdict: Verdict) -> tuple[str, float] | None:
        amount = getattr(verdict.resources, name) if verdict.resources is not None else None
        return None if amount is None else (write(amount), float(amount))

    return written


def _speedup(verdict: Verdict) -> tuple[str, float] | None:
    return None if verdict.speedup is None else (f"{verdict.speedup.median:.2f} ×", verdict.speedup.median)


def _roofline(verdict: Verdict) -> tuple[str, float] | None:
    known = verdict.efficiency.architectural if verdict.efficiency is not None else None
    return None if known is None else (text.percent(known), known)


def _energy(verdict: Verdict) -> tuple[str, float] | None:
    known = verdict.telemetry.energy if verdict.telemetry is not None else None
    return None if known is None else (f"{known:.3g} J", known)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


_FIGURES: dict[str, _Figure] = {
    "visible": _tally("visible"),
    "hidden": _tally("hidden"),
    "speedup": _speedup,
    "of roofline": _roofline,
    "energy": _energy,
    "registers": _resource("registers", _whole),
    "shared memory": _resource("shared_memory", text.size),
    "spills": _resource("spills", _whole),
    "occupancy": _resource("occupancy", text.percent),
}
