"""A page as GitHub-flavoured markdown that fits a comment."""

from __future__ import annotations

from kernelarena.report.markdown import LIMIT, escape
from kernelarena.report.pages.page import Page, Section
from kernelarena.report.text import plural

_CELL = 300


def render(page: Page) -> str:
    """Return the page as at most `LIMIT` characters: tables are cut, and say by how many rows."""
    head = [f"## {escape(page.title)}", " ".join(escape(text, limit=2_000) for text in page.sentences)]
    head += ["\n".join(f"> **Note:** {escape(text, limit=1_000)}" for text in page.warnings)] if page.warnings else []
    tail = [f"<sub>{escape(page.footer, limit=1_000)}</sub>"] if page.footer else []
    room = LIMIT - sum(len(part) + 2 for part in [*head, *tail])
    parts = []
    for index, section in enumerate(page.shown):
        share = room // (len(page.shown) - index)  # what one leaves over is for those that follow
        text = _section(section.without_long(), share)
        if len(text) + 2 <= room:
            room -= len(text) + 2
            parts.append(text)
    return "\n\n".join([*head, *parts, *tail]) + "\n"


def _section(section: Section, room: int) -> str:
    """Return a section in at most ``room`` characters, as far as its heading leaves any."""
    frame = [f"### {escape(section.title)}"] + ([section.note] if section.note else [])
    rule = ["--:" if name in section.numeric else "---" for name in section.columns]
    lines = [_line([escape(name) for name in section.columns]), _line(rule)]
    room -= sum(len(part) + 2 for part in [*frame, *lines]) + 200
    shown = 0
    for row in section.rows:
        line = _line([escape(text, limit=_CELL) for text in row])
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
        shown += 1
    table = "\n".join(lines)
    if left := len(section.rows) - shown:
        table += f"\n\n… and {plural(left, 'more row')}."
    if section.secondary:
        title = f"{escape(section.title)} ({len(section.rows):,})"
        return "\n\n".join([f"<details><summary>{title}</summary>", *frame[1:], table, "</details>"])
    return "\n\n".join([*frame, table])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
