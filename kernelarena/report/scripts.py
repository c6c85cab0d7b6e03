"""The page's scripts: the charting library and a few small ones of ours, inlined, and named by digest in its policy."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from importlib import resources

from markupsafe import Markup

MODULES = ("address", "cells", "charts", "details", "start")
"""Ours, in the order in which they build upon each other."""


@lru_cache(maxsize=1)
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that asks nobody for anything."""
    import vl_convert  # two seconds, and nothing that another form should wait for

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


@lru_cache(maxsize=1)
def ours() -> str:
    """Return the scripts of `MODULES` as one."""
    folder = resources.files("kernelarena.report") / "templates"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    return '"use strict";\n{\n' + "\n".join(parts) + "}\n"


def element(source: str) -> Markup:
    """Return a script element with just that source."""
    return Markup(f"<script>{source}</script>")


def data(id: str, value: object) -> Markup:
    """Return data for scripts as an element that is none itself; no text in it can end it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        text = text.replace(character, escaped)
    return Markup(f'<script type="application/json" id="{id}">{text}</script>')


def policy(*sources: str) -> str:
    """Return a content security policy under which these scripts run and nothing else does or is fetched.

    Not even what a hole in the escaping would let through: a script must have one of the digests. Styles are free,
    since charts set them on their own elements; pictures may come from memory, as those do that a reader saves.
    """
    digests = [base64.b64encode(hashlib.sha256(source.encode()).digest()).decode() for source in sources]
    scripts = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
