"""A verdict in a few lines of text, no wider than the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from kernelarena.report import words
from kernelarena.report.text import clean, listing, one_line, worth_reading
from kernelarena.spec import Evidence, Reason, Status, Verdict

LOG_LINES = 12
"""How much of the end of a log is shown."""
_COLOUR = {Status.PASS: "green", Status.FAIL: "red", Status.SKIPPED: None, Status.INFRA: "yellow"}
_LEAST = 40
"""Characters; in less than that nothing can be read anyway."""


def width() -> int:
    """Return how wide a line may be: the terminal's columns, or ``COLUMNS``, or 80 where there is no terminal."""
    return max(shutil.get_terminal_size((80, 24)).columns, _LEAST)


class Teller:
    """Puts verdicts on one kernel into lines, each as it comes, and what holds for many of them into a footer.

    Parameters
    ----------
    columns
        Characters a line at most.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._told: dict[tuple[Any, ...], str] = {}

    def lines(self, verdict: Verdict) -> Iterator[str]:
        """Yield the outcome in a line, and what its reader needs to act on it in a few more."""
        sign, platform = words.SIGN[verdict.status], clean(verdict.platform)
        if verdict.status is Status.PASS:
            assert verdict.evidence is not None
            outcome = f"{clean(verdict.kernel)} {words.CLAIM[verdict.evidence][0]} {platform}"
        else:
            outcome = str(verdict.reason)
        basis = _basis(verdict)
        first, *rest = self._wrapped(f"{sign} {platform}: {outcome}{f' ({basis})' if basis else ''}", "", "    ")
        yield click.style(sign, fg=_COLOUR[verdict.status], bold=True) + first[len(sign) :]
        yield from rest
        where = verdict.location
        place = (where.file, where.line) if where is not None else None
        before = self._told.setdefault((verdict.reason, verdict.gate, verdict.detail, place, verdict.notes), platform)
        if before != platform and (verdict.detail or place is not None):
            yield from self._wrapped(f"as on {before}", "    ")
            return
        yield from self._particulars(verdict)

    def _particulars(self, verdict: Verdict) -> Iterator[str]:
        detail = one_line(verdict.detail, limit=2_000)
        where = verdict.location
        place = f"{clean(where.file)}:{where.line}: " if where is not None else ""
        source = one_line(where.text).strip() if where is not None else ""
        if place and verdict.reason is Reason.SYNTAX_ERROR:  # there, the message is about the line itself
            yield from self._wrapped(detail if place in detail else f"{place}{detail}", "    ")
            place, detail = "    ", ""
        if detail:
            yield from self._wrapped(detail, "    ")
        if source or place.strip():
            yield from self._wrapped(f"{place}{source}", "    ")
        for note in verdict.notes:
            yield from self._wrapped(f"note: {one_line(note, limit=1_000)}", "    ", "      ")
        if verdict.status is Status.FAIL:
            log = clean(worth_reading(verdict.log), width=400, keep="end").strip()
            lines = [line for line in log.splitlines() if not self._lost_its_place(line)]
            for line in lines[-LOG_LINES:]:
                for part in self._wrapped(line, "    | ", "    |   "):
                    yield click.style(part, dim=True)

    def _lost_its_place(self, line: str) -> bool:
        """Whether it marks a part of the line above (``^^^^``) that is wrapped: it would mark something else."""
        return len(line) + len("    | ") > self._columns and not line.strip(" ^~|")

    def footer(self, verdicts: Sequence[Verdict]) -> Iterator[str]:
        """Yield what the words in brackets mean, and what built or ran the kernel."""
        for evidence in Evidence:
            having = [verdict for verdict in verdicts if verdict.evidence is evidence]
            if having:
                tools = _toolchains(having)
                text = f"{evidence}: {words.EVIDENCE[evidence]}{f' ({tools})' if tools else ''}"
                yield from self._wrapped(text, "  ", "    ")
        for status in (Status.SKIPPED, Status.INFRA):
            if any(verdict.status is status for verdict in verdicts):
                yield from self._wrapped(f"{words.SIGN[status]} {status}: {words.STATUS[status]}", "  ", "    ")

    def _wrapped(self, text: str, indent: str, hanging: str | None = None) -> list[str]:
        lines = textwrap.wrap(
            text,
            self._columns,
            initial_indent=indent,
            subsequent_indent=indent if hanging is None else hanging,
            break_on_hyphens=False,
        )
        return [line.rstrip() for line in lines or [indent]]


def _basis(verdict: Verdict) -> str:
    """Say what a verdict rests on: ``compiled; visible 6/6``."""
    parts = [] if verdict.evidence is None else [str(verdict.evidence)]
    if verdict.gate is not None and verdict.status is Status.FAIL:
        parts.append(f"{verdict.gate} gate")
    for name, tally in (("visible", verdict.visible), ("hidden", verdict.hidden)):
        if tally.total:
            parts.append(f"{name} {tally.passed}/{tally.total}")
    return "; ".join(parts)


def _toolchains(verdicts: Sequence[Verdict]) -> str:
    """Name the one toolchain, or of several each with its platforms."""
    platforms: dict[str, list[str]] = {}
    for verdict in verdicts:
        platforms.setdefault(one_line(verdict.toolchain or "", limit=200), []).append(clean(verdict.platform))
    named = {tool: on for tool, on in platforms.items() if tool}
    if len(platforms) == 1:
        return next(iter(named), "")
    return "; ".join(f"{tool} for {listing(on)}" for tool, on in named.items())
