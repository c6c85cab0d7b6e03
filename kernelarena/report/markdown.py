"""``report.md``: what one posts under a pull request. It fits a comment of the usual code hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kernelarena.report import words
from kernelarena.report.text import clean, listing, one_line, plural
from kernelarena.report.view import Column, Failure, Row, Unknown, View
from kernelarena.spec import Evidence, Status, Verdict

LIMIT = 60_000
"""Characters at most; GitHub refuses comments over 65,536 and GitLab cuts nothing below a million."""
_MOST_ROWS = 100
_MOST_UNKNOWNS = 20
_MARKUP = re.compile(r"([\\`*_\[\]~|$])")
_AT_START = re.compile(r"^(?=[#+=>-])|^(\d+)(?=[.)])")
_REFERENCE = re.compile(r"([@#]|://|www\.)(?=\w)")


def escape(text: object, *, limit: int = 600) -> str:
    """Return untrusted text on one line as markdown that shows just that text.

    Markup and HTML lose their meaning, and so do mentions, issue references and links, so that a kernel's message
    cannot call people into a conversation.
    """
    line = _MARKUP.sub(r"\\\1", _inert(text, limit))
    return _AT_START.sub(lambda match: f"{match[1] or ''}\\", line)


def _inert(text: object, limit: int = 600) -> str:
    """Return untrusted text on one line as HTML, where hosts find nobody mentioned and nothing linked.

    An empty comment does that without changing what is read or copied. This is all that text inside an HTML block
    needs: markdown means nothing there.
    """
    line = one_line(text, limit=limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _REFERENCE.sub(r"\1<!-- -->", line)


def fenced(text: object, language: str = "", *, limit: int = 2_000) -> str:
    """Return untrusted text as a code block that it cannot end."""
    body = clean(text, limit=limit, width=240, keep="end").strip("\n")
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def code(text: object) -> str:
    """Return untrusted text on one line as a code span, fit for a table."""
    line = one_line(text).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {line} {ticks}" if longest else f"`{line}`"


def render(view: View) -> str:
    """Return the report as GitHub-flavoured markdown of at most `LIMIT` characters."""
    head = [f"## Kernel portability: {plural(len(view.rows), 'kernel')} × {plural(len(view.columns), 'platform')}"]
    head += [" ".join(escape(text, limit=2_000) for text in view.sentences)]
    if view.unknown:
        head += [escape(view.unknown)]
    parts = [*head, *_matrix(view), *_losses(view), *_unknowns(view.unknowns)]
    tail = _run(view)
    room = LIMIT - sum(len(part) + 2 for part in [*parts, tail]) - 200
    parts += _failures(view.failures, room)
    return "\n\n".join([*parts, tail]) + "\n"


def _matrix(view: View) -> Iterable[str]:
    if not view.rows or not view.columns:
        return
    rows = view.rows
    if len(rows) > _MOST_ROWS:
        rows = sorted(rows, key=lambda row: row.passes_everywhere)[:_MOST_ROWS]
    lines = [
        "| kernel | " + " | ".join(escape(column.id) for column in view.columns) + " |",
        "| --- |" + " :-: |" * len(view.columns),
        *(_row(row) for row in rows),
        "| **passed of judged** | " + " | ".join(_total(column) for column in view.columns) + " |",
    ]
    yield "\n".join(lines)
    if len(view.rows) > len(rows):
        yield f"… and {plural(len(view.rows) - len(rows), 'more kernel')} in the full report."
    yield _legend(view)


def _row(row: Row) -> str:
    return f"| {code(row.id)} | " + " | ".join(_cell(cell) for cell in row.cells) + " |"


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return words.PENDING
    letter = f" {words.LETTER[verdict.evidence]}" if verdict.evidence is not None else ""
    return f"{words.SIGN[verdict.status]}{letter}"


def _total(column: Column) -> str:
    return "<br>".join(f"**{rate}** {words.LETTER[evidence]}" for evidence, rate in column.counts.rates.items()) or "–"


def _legend(view: View) -> str:
    found = {verdict.status for verdict in view.data.verdicts}
    marks = [f"{words.SIGN[status]} {status}" for status in Status if status in found]
    if any(column.pending for column in view.columns):
        marks.append(f"{words.PENDING} not judged yet")
    marks += [f"{words.LETTER[evidence]} {evidence} ({words.EVIDENCE[evidence]})" for evidence in view.evidence]
    return f"<sub>{' · '.join(marks)}</sub>"


def _losses(view: View) -> Iterable[str]:
    if not view.losses:
        return
    kinds = [evidence for evidence in Evidence if any(evidence in loss.counts for loss in view.losses)]
    lines = ["| lost to | " + " | ".join(f"{kind} cells" for kind in kinds) + " | meaning |"]
    lines += ["| --- |" + " --: |" * len(kinds) + " --- |"]
    for loss in view.losses:
        numbers = " | ".join(str(loss.counts.get(kind, "")) for kind in kinds)
        lines.append(f"| {loss.reason} | {numbers} | {words.MEANING[loss.reason]} |")
    yield "\n".join(lines)


def _unknowns(unknowns: list[Unknown]) -> Iterable[str]:
    lines = [
        f"- {words.SIGN[unknown.status]} {escape(unknown.platform)}, {plural(len(unknown.kernels), 'kernel')}: "
        f"{unknown.reason}. {escape(unknown.detail, limit=300)}"
        for unknown in unknowns[:_MOST_UNKNOWNS]
    ]
    if len(unknowns) > _MOST_UNKNOWNS:
        lines.append(f"- … and {len(unknowns) - _MOST_UNKNOWNS} more in the full report")
    if lines:
        yield "\n".join(["Nothing is known about:", "", *lines])


def _failures(failures: list[Failure], room: int) -> list[str]:
    """Return as many failures as there is room for, and a line about the rest."""
    shown: list[str] = []
    for failure in failures:
        text = _failure(failure)
        room -= len(text) + 2
        if room < 0:
            break
        shown.append(text)
    if not failures:
        return []
    if left := len(failures) - len(shown):
        shown.append(f"… and {plural(left, 'more failure')} in the full report.")
    return ["### Failures", *shown]


def _failure(failure: Failure) -> str:
    verdict = failure.first
    where = listing([_inert(v.platform) for v in failure.verdicts])
    gate = f", gate {words.GATE[verdict.gate]}" if verdict.gate is not None else ""
    kinds = listing([str(kind) for kind in Evidence if any(v.evidence is kind for v in failure.verdicts)])
    reason = verdict.reason
    parts = [
        f"<details><summary>{words.SIGN[Status.FAIL]} <b>{_inert(verdict.kernel)}</b> on {where}: {reason}</summary>",
        f"{escape(verdict.detail, limit=1_500)} <sub>({kinds}{gate})</sub>",
    ]
    if reason is not None:
        parts.append(f"*What to do:* {words.ADVICE[reason]}")
    if failure.source and verdict.location is not None:
        lines = "\n".join(f"{'>' if line.hit else ' '} {line.number:4d}  {line.text}" for line in failure.source)
        parts += [f"{code(verdict.location.file)}, line {verdict.location.line}:", fenced(lines)]
    if failure.log:
        parts += ["End of the log:", fenced(failure.log)]
    parts += ["Reproduce:", fenced(failure.reproduce, "sh"), "</details>"]
    return "\n\n".join(parts)


def _run(view: View) -> str:
    manifest = view.data.manifest
    versions = [f"{name} {version}" for name, version in manifest.environment.versions.items()]
    state = "finished" if manifest.finished else "not finished"
    facts = [f"run {manifest.id}", f"started {manifest.created}", state, *versions]
    facts += [view.isolation.rstrip(".")] if view.isolation else []
    return f"<sub>{escape(' · '.join(facts), limit=1_000)}</sub>"
