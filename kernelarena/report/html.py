"""``report.html``: one file that opens from disk, with no script and no request to anywhere.

Whatever a kernel or a compiler wrote goes through `clean` and is escaped by the template engine; a content security
policy in the page forbids scripts and requests on top, so that even a hole in both would run nothing.
"""

from __future__ import annotations

import math
import shlex
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kernelarena.report import text, words
from kernelarena.report.view import View, failed_trials, worst_launches
from kernelarena.spec import (
    HIDDEN_FAMILIES,
    Evidence,
    Kernel,
    Launch,
    Platform,
    Provenance,
    Resources,
    Status,
    TaskSource,
    Verdict,
)

_LOG = 6_000


def render(view: View) -> str:
    """Return the report as one self-contained HTML page."""
    verdicts, run = view.data.verdicts, view.data.manifest
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            view=view,
            data=view.data,
            run=run,
            command=shlex.join(run.command),
            seconds=sum(verdict.duration_s for verdict in verdicts),
            toolchains=sorted({verdict.toolchain for verdict in verdicts if verdict.toolchain}),
            most=max((number for loss in view.losses for number in loss.counts.values()), default=1),
            Infinity=math.inf,
        )
    )


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template engine, set up so that whatever it prints is cleaned and escaped."""
    engine = Environment(
        loader=PackageLoader("kernelarena.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    engine.filters |= {
        "line": text.one_line,
        "log": lambda value: text.clean(value, limit=_LOG, width=400, keep="end"),
        "detail": lambda value: text.clean(value, limit=3_000),
        "moment": moment,
        "size": text.size,
        "duration": text.duration,
        "percent": percent,
        "listing": text.listing,
    }
    engine.globals |= {
        "words": words,
        "plural": text.plural,
        "anchor": anchor,
        "about": about,
        "launched": launched,
        "label": label,
        "needs": needs,
        "worst_launches": worst_launches,
        "failed_trials": failed_trials,
        "Evidence": Evidence,
        "Status": Status,
        "HIDDEN_FAMILIES": HIDDEN_FAMILIES,
    }
    return engine


def _finalize(value: Any) -> Any:
    """Clean every string that a template prints; what the template engine made itself is left alone."""
    if value is None:
        return "–"
    return text.clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def anchor(*parts: str) -> str:
    """Return a fragment for those names; as it has no character that a URL would change, it is the id as well."""
    return ":".join(quote(part, safe="").replace("~", "%7E").replace("%", "~") for part in parts)


def label(verdict: Verdict) -> str:
    """Return a cell of the matrix in words, for those who do not see it."""
    outcome = f"{verdict.status}, {verdict.reason}" if verdict.reason is not None else str(verdict.status)
    return text.joined([f"{verdict.kernel} on {verdict.platform}: {outcome}", verdict.evidence], ", ")


def about(verdict: Verdict, kernel: Kernel | None, task: TaskSource | None) -> str:
    """Return what a kernel is, in a few words: task, language, home, who wrote it."""
    author = kernel.provenance if kernel is not None else Provenance()
    return text.joined(
        [
            task.task.title if task is not None else verdict.task,
            verdict.language,
            verdict.home and f"written for {verdict.home}",
            (name := text.joined([author.agent, author.model], ", ")) and f"by {name}",
        ]
    )


def grid(launch: Launch) -> str:
    """Return the blocks of a launch in each dimension, without trailing ones: ``1,024 × 8``."""
    sizes = list(launch.grid)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return " × ".join(f"{size:,}" for size in sizes)


def launched(launch: Launch) -> str:
    """Return how often it was launched, on which grid: ``12 launches, grid 1,024 × 8``.

    What was never launched says so, because "0 launches" reads like a fault of the count.
    """
    if launch.count:
        how = text.plural(launch.count, "launch", "launches")
    elif launch.reason is not None:
        how = "refused before launch"
    else:
        how = "not launched"
    return text.joined([how, f"grid {grid(launch)}" if launch.grid else None], ", ")


def moment(written: str) -> str:
    """Return a date of a manifest as people write it, or as it is if it is not one."""
    try:
        when = datetime.fromisoformat(written)
    except ValueError:
        return written
    return f"{when.day} {when:%B %Y, %H:%M} {when.tzname() or ''}".rstrip()


def percent(share: float | None) -> str:
    """Return a share as a whole percentage, never rounding up to all or down to nothing."""
    if share is None:
        return "–"
    rounded = round(100 * share)
    if rounded in (0, 100) and share not in (0.0, 1.0):
        rounded = 1 if rounded == 0 else 99
    return f"{rounded} %"


def needs(resources: Resources, platform: Platform | None) -> list[tuple[str, str, str | None]]:
    """Return what a launch needs, in the order of the table's columns.

    Returns
    -------
    list of (column, need, limit)
        The limit is None unless the need is over it.
    """
    limits = platform.limits if platform is not None else None
    r = resources

    def over(need: int | None, limit: int | None, shown: str) -> str | None:
        return shown if need is not None and limit is not None and need > limit else None

    threads, shared, registers = (
        (limits.max_threads_per_block, limits.shared_memory_per_block, limits.registers_per_thread)
        if limits is not None
        else (None, None, None)
    )
    occupancy = "–" if r.occupancy is None else percent(r.occupancy)
    return [
        ("threads", f"{r.threads_per_block:,}", over(r.threads_per_block, threads, f"{threads:,}" if threads else "")),
        ("warps", f"{r.warps:,}", None),
        ("shared memory", text.size(r.shared_memory), over(r.shared_memory, shared, text.size(shared))),
        ("registers", _number(r.registers), over(r.registers, registers, _number(registers))),
        ("spills", _number(r.spills), None),
        ("occupancy", text.joined([occupancy, r.limited_by and f"by {r.limited_by}"], " "), None),
    ]


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
