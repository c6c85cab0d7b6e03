"""A page for the terminal."""

from __future__ import annotations

import textwrap

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kernelarena.report.pages.page import Page, Section
from kernelarena.report.text import one_line, plural

MOST_ROWS = 20
"""Of one table."""


def write(page: Page, console: Console) -> None:
    """Print the page, no wider than the console."""
    console.print(Text(one_line(page.title), style="bold"))
    for text in page.sentences:
        _say(console, one_line(text, limit=2_000))
    for text in page.warnings:
        _say(console, f"note: {one_line(text, limit=1_000)}")
    for section in page.shown:
        console.print()
        console.print(Text(one_line(section.title), style="bold"))
        console.print(_table(section.without_long()))
        if (left := len(section.rows) - MOST_ROWS) > 0:
            console.print(Text(f"… and {plural(left, 'more row')}; --output FILE.html has all of them"))
    if page.footer:
        console.print()
        _say(console, one_line(page.footer, limit=1_000))


def _say(console: Console, text: str) -> None:
    for line in textwrap.wrap(text, console.width, break_on_hyphens=False) or [""]:
        console.print(Text(line))


def _table(section: Section) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
    for name in section.columns:
        table.add_column(Text(name), justify="right" if name in section.numeric else "left", overflow="fold")
    for row in section.rows[:MOST_ROWS]:
        table.add_row(*(Text(one_line(text, limit=200)) for text in row))
    return table
