"""What may be in data that people or programs hand in, beyond what a model says: text that is text, and no abysses."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 64
"""Levels of lists and mappings in one another. Nothing that is meant needs as many, and serialisers give up on more."""

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_KINDS = (str, int, float, bool, datetime.date, type(None), dict, list)

Place = tuple[Any, ...]
"""Keys and indices that lead to a value."""


def flaw(data: object) -> tuple[Place, str] | None:
    """Return where in ``data`` something is that no model can keep, and what; None where all is well.

    Parameters
    ----------
    data
        What a parser of JSON or YAML made of a text.
    """
    for place, value in leaves(data):
        if len(place) > MAX_DEPTH:
            return place, f"nested more than {MAX_DEPTH} levels deep"
        if (problem := _of_scalar(value)) is not None:
            return place, problem
        for depth, key in enumerate(place):
            if (problem := _of_scalar(key)) is not None:
                return place[:depth], f"a key {problem}"
    return None


def leaves(data: object) -> Iterator[tuple[Place, object]]:
    """Yield every value that holds no other, and the place of it. What lies too deep is not looked into."""
    waiting: list[tuple[Place, object]] = [((), data)]
    while waiting:
        place, value = waiting.pop()
        if value and len(place) <= MAX_DEPTH and isinstance(value, (dict, list)):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*place, key), part) for key, part in parts]
        else:
            yield place, value


def _of_scalar(value: object) -> str | None:
    if not isinstance(value, _KINDS):
        return f"is of a type that has no place here ({type(value).__name__})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"is a number without end ({value})"  # 1e400 is how it gets in
    if isinstance(value, str) and not value.isascii() and _HALF_PAIR.search(value):
        return "holds half of a surrogate pair, which no text can"  # an escape such as \ud800 that stands alone
    return None
