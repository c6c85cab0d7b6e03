"""How all charts look, on the page and in files: fonts, axes, and colours by their names in the style sheet."""

from __future__ import annotations

from kernelarena.report.figures.figure import Spec

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, DejaVu Sans, sans-serif"

_TEXT = {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": 12}
CONFIG: Spec = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        **_TEXT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelSeparation": 8,
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
    },
    "axisY": {
        "labelPadding": 9,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleAnchor": "start",
        "titleX": 0,
        "titleY": -14,
    },
    "axisBand": {"grid": False},
    "legend": _TEXT,
    "text": {"fontSize": 12},
    "title": {"color": "var(--ink)", "subtitleColor": "var(--soft)", "anchor": "start", "fontSize": 15, "offset": 14},
}
"""Vega-Lite's configuration."""
