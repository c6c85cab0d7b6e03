"""The summary that a sweep ends with: a matrix, totals, and what failed, in as many columns as there are."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelarena.report import words
from kernelarena.report.text import clean, listing, one_line, plural
from kernelarena.report.view import Column, Failure, Row, Unknown, View, arrange
from kernelarena.spec import Reason, RunData, Status, Verdict

_STYLE = {Status.PASS: "green", Status.FAIL: "bold red", Status.SKIPPED: "dim", Status.INFRA: "yellow"}
_MOST_ROWS = 60
_MOST_FAILURES = 20
_NAME = (16, 32)
"""Least and most characters of the column of kernel names."""
_GAPS = (2, 1)
"""Characters between columns: the first of these with which all platforms fit beside each other, or the last."""


def summary(data: RunData) -> RenderableType:
    """Return the summary of a run, to be printed with `rich`.

    It fits whatever width the console has: platforms that do not fit beside each other go below each other. Signs and
    letters carry the meaning, so that it reads the same without colour.
    """
    return _Summary(arrange(data))


class _Summary:
    def __init__(self, view: View) -> None:
        self.view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view = self.view
        if not view.rows or not view.columns:
            yield from map(Text, view.sentences)
            return
        rows, hidden = _rows_to_show(view)
        gap = _gap(view, rows, options.max_width)
        for first, last in _blocks(view, rows, options.max_width, gap):
            yield _matrix(view, rows, first, last, gap)
        if hidden:
            yield Text(f"  … and {plural(hidden, 'more kernel')} in the report", "dim")
        yield Text()
        yield _legend(view)
        yield from _failures(view.failures)
        yield from _unknowns(view.unknowns)
        yield Text()
        yield from _prose(view)


def _rows_to_show(view: View) -> tuple[list[Row], int]:
    """Return all rows, or where that is too many, those that do not pass everywhere first."""
    if len(view.rows) <= _MOST_ROWS:
        return view.rows, 0
    chosen = sorted(view.rows, key=lambda row: row.passes_everywhere)[:_MOST_ROWS]
    kept = {row.id for row in chosen}
    return [row for row in view.rows if row.id in kept], len(view.rows) - len(chosen)


def _name_width(rows: list[Row]) -> int:
    least, most = _NAME
    return min(max(least, *(len(clean(row.id)) for row in rows)), most)


def _total(column: Column) -> Text:
    """Return what passed of what was judged; the cells above say by what evidence, unless there are several."""
    rates = column.counts.rates
    lines = [f"{rate} {words.LETTER[evidence]}" if len(rates) > 1 else str(rate) for evidence, rate in rates.items()]
    return Text("\n".join(lines) or "–", "bold")


def _width(column: Column) -> int:
    return max(len(one_line(column.id, limit=20)), *map(len, _total(column).plain.split("\n")))


def _gap(view: View, rows: list[Row], width: int) -> int:
    room = width - _name_width(rows)
    fitting = (gap for gap in _GAPS if sum(_width(column) + gap for column in view.columns) <= room)
    return next(fitting, _GAPS[-1])


def _blocks(view: View, rows: list[Row], width: int, gap: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of columns that fit beside each other."""
    room = width - _name_width(rows)
    first, used = 0, 0
    for index, column in enumerate(view.columns):
        needed = _width(column) + gap
        if used + needed > room and index > first:
            yield first, index
            first, used = index, 0
        used += needed
    yield first, len(view.columns)


def _matrix(view: View, rows: list[Row], first: int, last: int, gap: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), show_footer=True, header_style="bold")
    table.add_column(
        "kernel", Text("passed of judged", "bold"), no_wrap=True, width=_name_width(rows), overflow="ellipsis"
    )
    for column in view.columns[first:last]:
        table.add_column(
            Text(one_line(column.id, limit=20)), _total(column), no_wrap=True, justify="center", width=_width(column)
        )
    for row in rows:
        table.add_row(Text(clean(row.id)), *(_cell(cell) for cell in row.cells[first:last]))
    return table


def _cell(verdict: Verdict | None) -> Text:
    if verdict is None:
        return Text(words.PENDING, "dim")
    letter = words.LETTER[verdict.evidence] if verdict.evidence is not None else " "
    return Text.assemble((words.SIGN[verdict.status], _STYLE[verdict.status]), (letter, "dim"))


def _legend(view: View) -> Text:
    found = {verdict.status for verdict in view.data.verdicts}
    lines = [
        *((words.SIGN[status], f"{status}: {words.STATUS[status]}") for status in Status if status in found),
        *((words.LETTER[evidence], f"{evidence}: {words.EVIDENCE[evidence]}") for evidence in view.evidence),
    ]
    if any(column.pending for column in view.columns):
        lines.append((words.PENDING, "not judged yet"))
    return Text("\n".join(f"  {sign} {text}" for sign, text in lines), "dim")


def _prose(view: View) -> Iterator[RenderableType]:
    for text in [*view.sentences, *([view.unknown] if view.unknown else [])]:
        yield Text(text)
    if view.isolation:
        yield Text(view.isolation, "dim")


def _failures(failures: list[Failure]) -> Iterator[RenderableType]:
    if not failures:
        return
    yield Text()
    yield Text("Failures", "bold")
    for failure in failures[:_MOST_FAILURES]:
        verdict = failure.first
        where = listing([one_line(v.platform, limit=40) for v in failure.verdicts])
        yield _entry(Status.FAIL, f"{one_line(verdict.kernel, limit=60)} on {where}", verdict.reason, verdict.detail)
    yield from _rest(len(failures))


def _unknowns(unknowns: list[Unknown]) -> Iterator[RenderableType]:
    if not unknowns:
        return
    yield Text()
    yield Text("Nothing is known about", "bold")
    for unknown in unknowns[:_MOST_FAILURES]:
        (first, *others), platform = unknown.kernels, one_line(unknown.platform, limit=40)
        which = plural(len(others) + 1, "kernel") if others else one_line(first, limit=60)
        yield _entry(unknown.status, f"{which} on {platform}", unknown.reason, unknown.detail)
    yield from _rest(len(unknowns))


def _entry(status: Status, which: str, reason: Reason | None, detail: str) -> Group:
    head = Text.assemble((words.SIGN[status], _STYLE[status]), f" {which}: ", (str(reason), _STYLE[status]))
    return Group(head, *([Padding(Text(one_line(detail)), (0, 0, 0, 4))] if detail else []))


def _rest(total: int) -> Iterator[RenderableType]:
    if total > _MOST_FAILURES:
        yield Text(f"… and {total - _MOST_FAILURES:,} more in the report", "dim")
