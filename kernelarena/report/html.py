"""``report.html``: one file that opens from disk and asks nobody for anything.

Whatever a kernel or a compiler wrote goes through `clean` and is escaped by the template engine. A content security
policy in the page allows the page's own scripts, by their digests, and forbids every request on top, so that even a
hole in both would run nothing.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kernelarena.report import detail, phrases, scripts, sheet, text, words
from kernelarena.report.view import View, failed_trials, worst_launches
from kernelarena.spec import HIDDEN_FAMILIES, Durations, Evidence, Reason, Status, Verdict
from kernelarena.spec.condensed import checked

MOST_ROWS = 400
"""Of the matrix; kernels that fail somewhere come first where not all have room."""
MOST_REASONS = 6
"""Of those beside the answer; all of them have a table of their own."""


def render(view: View) -> str:
    """Return the report as one self-contained HTML page."""
    from kernelarena.report.figures import figures  # they need pandas, which no other form should wait for
    from kernelarena.report.figures.look import CONFIG

    verdicts, run = view.data.verdicts, view.data.manifest
    shown, missing = figures(view)
    told, left = detail.details(view)
    specs = {f"{one.id}-{at}": panel.spec for one in shown for at, panel in enumerate(one.panels)}
    library, ours = scripts.library() if shown else "", scripts.ours()
    rows = view.rows
    if len(rows) > MOST_ROWS:
        rows = sorted(rows, key=lambda row: row.passes_everywhere)[:MOST_ROWS]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            view=view,
            data=view.data,
            run=run,
            rows=rows,
            principal=_principal(view),
            sheet=sheet.make(view),
            details=told,
            details_left=left,
            detailed={one.row.id for one in told},
            figures=shown,
            missing=missing,
            charts=scripts.data("charts", {"config": CONFIG, "specs": specs}),
            library=scripts.element(library) if shown else "",
            ours=scripts.element(ours),
            policy=scripts.policy(*([library] if shown else []), ours),
            command=shlex.join(run.command),
            seconds=sum(verdict.duration_s for verdict in verdicts),
            phases=_phases(verdicts),
            toolchains=sorted({verdict.toolchain for verdict in verdicts if verdict.toolchain}),
            most=max((number for loss in view.losses for number in loss.counts.values()), default=1),
            Infinity=math.inf,
        )
    )


def _phases(verdicts: Sequence[Verdict]) -> list[tuple[str, float]]:
    """Return what the time of all cells went to, s."""
    sums = [(name, sum(getattr(one.durations, name) for one in verdicts)) for name in Durations.model_fields]
    return [(name, seconds) for name, seconds in sums if seconds]


def _principal(view: View) -> list[tuple[Reason, Evidence, int]]:
    """Return what most cells are lost to, each kind of evidence by itself."""
    pairs = [(loss.reason, kind, number) for loss in view.losses for kind, number in loss.counts.items()]
    return sorted(pairs, key=lambda pair: -pair[2])[:MOST_REASONS]


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
        "log": lambda value: text.clean(value, limit=detail.LOG, width=400, keep="end"),
        "detail": lambda value: text.clean(value, limit=detail.DETAIL),
        "moment": phrases.moment,
        "size": text.size,
        "duration": text.duration,
        "percent": text.percent,
        "times": text.times,
        "brief": text.brief,
        "listing": text.listing,
    }
    engine.globals |= {
        "words": words,
        "plural": text.plural,
        "anchor": anchor,
        "about": phrases.about,
        "launched": phrases.launched,
        "label": phrases.label,
        "needs": phrases.needs,
        "gates": detail.gates,
        "worst_launches": worst_launches,
        "checked": checked,
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
