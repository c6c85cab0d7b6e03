"""What people read of a comparison of runs: terminal, markdown, HTML and JSON."""

from kernelarena.report.comparison.document import SCHEMA, TREND_SCHEMA, json_schema, trend_schema
from kernelarena.report.comparison.history import Step, history
from kernelarena.report.comparison.render import FORMATS, SUFFIXES, render, render_trend
from kernelarena.report.comparison.story import page
from kernelarena.report.comparison.trend_story import trend_page

__all__ = [
    "FORMATS",
    "SCHEMA",
    "SUFFIXES",
    "TREND_SCHEMA",
    "Step",
    "history",
    "json_schema",
    "page",
    "render",
    "render_trend",
    "trend_page",
    "trend_schema",
]
