"""``kab-mc check --static``, and findings in lines of text."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import click

from kernelarena.cli.lines import width
from kernelarena.cli.streams import emit
from kernelarena.platforms import catalogue
from kernelarena.portability.examine import examine
from kernelarena.portability.finding import Examination, Finding, Severity
from kernelarena.portability.gather import gather, sources_of
from kernelarena.portability.rules import RULES
from kernelarena.portability.source import Source, Unreadable
from kernelarena.report.findings import as_json
from kernelarena.report.json import written
from kernelarena.report.sarif import sarif
from kernelarena.report.text import clean, listing, one_line, plural
from kernelarena.spec import Kernel, Platform
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.kernels import load_kernels

_SIGN = {Severity.ERROR: "✗", Severity.WARNING: "!"}
_COLOUR = {Severity.ERROR: "red", Severity.WARNING: "yellow"}
_SHOWN = 3
"""Findings of one rule in one file that are told in full; the lines of the others are listed."""


def static(
    paths: Sequence[str],
    *,
    platforms: Sequence[str],
    platforms_dirs: Sequence[Path],
    tasks_dirs: Sequence[Path],
    form: str | None,
    strict: bool,
) -> int:
    """Look at sources alone, and print what does not carry over.

    Parameters
    ----------
    paths
        Files, folders, and JSON Lines of kernels or lines of them.
    platforms
        What to carry them to; by default every chip whose limits are known.
    platforms_dirs, tasks_dirs
        Further folders to look in.
    form
        ``json`` or ``sarif``; text for people otherwise.
    strict
        Whether findings make the exit code 1.

    Returns
    -------
    int
        The exit code.
    """
    known = catalogue.load(platforms_dirs)
    asked = catalogue.resolve(platforms, known) if platforms else [each for each in known.values() if each.limits]
    found = examine(_sources(paths, tasks_dirs), asked)
    if form is None:
        click.echo("\n".join([*told(found), *_summary(found)]))
    else:
        emit(as_json(found) if form == "json" else sarif(found, RULES))
    return int(strict and bool(found.findings))


def of_kernel(kernel: Kernel, platforms: Sequence[Platform]) -> Examination:
    """Return what in a kernel does not carry over; that a file does not parse is for its verdict to say."""
    return examine(sources_of([kernel]), platforms).model_copy(update={"unreadable": ()})


def beside(report: str, found: Examination) -> str:
    """Return a JSON report with findings among its fields, in the form that ``check --static --json`` has them."""
    document = json.loads(report)
    document["findings"] = json.loads(as_json(found))["findings"]
    return written(document)


def told(found: Examination) -> Iterator[str]:
    """Yield findings in lines, no wider than the terminal, and what could not be looked at."""
    columns = width()
    before: Counter[tuple[str, str]] = Counter()
    for number, finding in enumerate(found.findings):
        kind = (finding.path, finding.rule)
        before[kind] += 1
        if before[kind] <= _SHOWN:
            yield from _lines(finding, columns)
        elif before[kind] == _SHOWN + 1:
            later = [each.line for each in found.findings[number:] if (each.path, each.rule) == kind]
            more = f"and {plural(len(later), 'more place')} with {finding.rule}, in {_listed(later)}"
            yield from _wrapped(f"{clean(finding.path)}: {more}", columns, "  ")
    for place in found.unreadable:
        said = any(place.startswith(f"{finding.path}:") for finding in found.findings)
        nothing = "nothing more" if said else "nothing"
        yield from _wrapped(f"– {one_line(place)}; {nothing} can be said of it", columns, "")


def _lines(finding: Finding, columns: int) -> Iterator[str]:
    sign = _SIGN[finding.severity]
    head = f"{sign} {clean(finding.path)}:{finding.line}:{finding.column}: {finding.rule}"
    first, *rest = _wrapped(head, columns, "")
    yield click.style(sign, fg=_COLOUR[finding.severity], bold=True) + first[len(sign) :]
    yield from rest
    yield "      " + clean(one_line(finding.text).strip(), width=columns - 6)
    yield from _wrapped(f"on {listing(finding.platforms)}: {finding.breaks}", columns, "    ")
    yield from _wrapped(f"instead: {finding.instead}", columns, "    ")


def _listed(lines: Sequence[int]) -> str:
    shown = [str(line) for line in lines[:8]]
    if len(lines) > len(shown):
        shown.append("…")
    return f"{'line' if len(lines) == 1 else 'lines'} {', '.join(shown)}"


def _summary(found: Examination) -> Iterator[str]:
    if found.findings or found.unreadable:
        yield ""
    files = len({finding.path for finding in found.findings})
    what = plural(len(found.findings), "finding") if found.findings else "nothing found"
    where = f"{files:,} of {plural(found.files, 'file')}" if files else plural(found.files, "file")
    yield from _wrapped(f"{what} in {where}, for {listing(found.platforms)}", width(), "  ")


def _sources(paths: Sequence[str], tasks_dirs: Sequence[Path]) -> Iterator[Source | Unreadable]:
    return chain.from_iterable(
        sources_of(load_kernels([path], tasks=load_tasks(tasks_dirs).keys())[0])
        if re.search(r"\.jsonl(:\d+)?$", path)
        else gather([Path(path)])
        for path in paths
    )


def _wrapped(text: str, columns: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        columns,
        initial_indent=indent,
        subsequent_indent=indent + ("    " if not indent else ""),
        break_on_hyphens=False,
    )
