"""The colours of the report: written once, in its style sheet, and taken from there by the charts."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources

from kernelarena.report.figures.figure import Spec

_BLOCK = re.compile(r":root \{(.*?)\}", re.DOTALL)
_COLOUR = re.compile(r"--([\w-]+): (#[0-9a-f]{6});")
_USE = re.compile(r"var\(--([\w-]+)\)")


@lru_cache(maxsize=1)
def light() -> dict[str, str]:
    """Return the colours of the light form by name, ``#rrggbb``."""
    text = (resources.files("kernelarena.report") / "templates" / "style.css").read_text(encoding="utf-8")
    block = _BLOCK.search(text)
    assert block is not None, "the style sheet begins with its colours"
    return dict(_COLOUR.findall(block[1]))


def painted(spec: Spec) -> Spec:
    """Return a specification with its colours written out, as those need it who do not know the style sheet."""
    colours = light()
    found: Spec = json.loads(_USE.sub(lambda use: colours[use[1]], json.dumps(spec)))
    return found
