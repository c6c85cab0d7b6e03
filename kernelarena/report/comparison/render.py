"""A comparison or a history as a file."""

from __future__ import annotations

from collections.abc import Sequence

from kernelarena.metrics.comparison import Breach, Comparison
from kernelarena.report import json
from kernelarena.report.comparison import encode
from kernelarena.report.comparison.history import Step
from kernelarena.report.comparison.story import page
from kernelarena.report.comparison.trend_story import trend_page
from kernelarena.report.pages import Page

FORMATS = ("html", "md", "json")
SUFFIXES = {name: name for name in FORMATS}
"""The format that a file's suffix stands for."""


def render(found: Comparison, format: str, breaches: Sequence[Breach] = ()) -> str:
    """Return a comparison in one of `FORMATS`."""
    told = page(found, breaches)
    if format == "json":
        return json.written(json.as_data(encode.comparison(found, told, breaches)))
    return _page(told, format)


def render_trend(steps: Sequence[Step], format: str) -> str:
    """Return a history in one of `FORMATS`."""
    told = trend_page(steps)
    if format == "json":
        return json.written(json.as_data(encode.trend(steps, told)))
    return _page(told, format)


def _page(told: Page, format: str) -> str:
    # imported on demand: a template engine is nothing that markdown should wait for
    if format == "html":
        from kernelarena.report.pages import html

        return html.render(told)
    from kernelarena.report.pages import markdown

    return markdown.render(told)
