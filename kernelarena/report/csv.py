"""``report.csv``: one line a cell, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io

from kernelarena.report.text import one_line
from kernelarena.report.view import View
from kernelarena.spec import HIDDEN_FAMILIES, Tally, Verdict

_WORDS = ("task", "kernel", "language", "home", "platform", "evidence", "status", "gate", "reason", "detail")
_RESOURCES = ("threads_per_block", "warps", "stages", "shared_memory", "registers", "spills", "scratch", "occupancy")
_FORMULA = ("=", "+", "-", "@")
COLUMNS = (
    *_WORDS,
    "file",
    "line",
    "visible_passed",
    "visible_total",
    "hidden_passed",
    "hidden_total",
    *(f"hidden_{family.value.replace('-', '_')}_{part}" for family in HIDDEN_FAMILIES for part in ("passed", "total")),
    *_RESOURCES,
    "toolchain",
    "notes",
    "duration_s",
)


def render(view: View) -> str:
    """Return the cells as comma-separated values with a header line; what is unknown is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_row(verdict) for verdict in view.data.verdicts)
    return text.getvalue()


def guarded(text: object) -> str:
    """Return text that a spreadsheet takes for text: one that looks like a formula gets an apostrophe before it."""
    line = "" if text is None else one_line(text, limit=1_000)
    return f"'{line}" if line.startswith(_FORMULA) else line


def _row(verdict: Verdict) -> dict[str, object]:
    row: dict[str, object] = {name: guarded(getattr(verdict, name)) for name in _WORDS}
    if verdict.location is not None:
        row |= {"file": guarded(verdict.location.file), "line": verdict.location.line}
    row |= {"visible_passed": verdict.visible.passed, "visible_total": verdict.visible.total}
    row |= {"hidden_passed": verdict.hidden.passed, "hidden_total": verdict.hidden.total}
    for family in HIDDEN_FAMILIES:
        tally = verdict.hidden.by_family.get(family, Tally())
        name = f"hidden_{family.value.replace('-', '_')}"
        row |= {f"{name}_passed": tally.passed, f"{name}_total": tally.total}
    if verdict.resources is not None:
        row |= {name: getattr(verdict.resources, name) for name in _RESOURCES}
    return row | {
        "toolchain": guarded(verdict.toolchain),
        "notes": guarded("; ".join(verdict.notes)),
        "duration_s": verdict.duration_s,
    }
