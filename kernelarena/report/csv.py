"""``report.csv``: one line a cell, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io

from kernelarena.report import table
from kernelarena.report.text import one_line
from kernelarena.report.view import View

_FORMULA = ("=", "+", "-", "@")


def render(view: View) -> str:
    """Return the cells as comma-separated values with a header line; what is unknown is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table.COLUMNS), lineterminator="\n")
    writer.writeheader()
    for verdict in view.data.verdicts:
        row = table.row(verdict)
        writer.writerow({name: guarded(value) if isinstance(value, str) else value for name, value in row.items()})
    return text.getvalue()


def guarded(text: object) -> str:
    """Return text that a spreadsheet takes for text: one that looks like a formula gets an apostrophe before it."""
    line = "" if text is None else one_line(text, limit=1_000)
    return f"'{line}" if line.startswith(_FORMULA) else line
