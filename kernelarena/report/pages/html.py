"""A page as one self-contained HTML file, with no script and no request to anywhere."""

from __future__ import annotations

from kernelarena.report.html import environment
from kernelarena.report.pages.page import Page

MOST_ROWS = 5_000
"""Of one table; whoever needs more reads the JSON."""


def render(page: Page) -> str:
    """Return the page as HTML."""
    return environment().get_template("page.html.j2").render(page=page, most=MOST_ROWS)
