"""What may be in data that people or programs hand in, beyond what a model says: text that is text, and no abysses."""

from __future__ import annotations

import datetime
import re
from typing import Any

MAX_DEPTH = 64
"""Levels of lists and mappings in one another. Nothing that is meant needs as many, and serialisers give up on more."""

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_SCALARS = (str, int, float, bool, datetime.date, type(None))

Place = tuple[Any, ...]
"""Keys and indices that lead to a value."""


def flaw(data: object) -> tuple[Place, str] | None:
    """Return where in ``data`` something is that no model can keep, and what; None where all is well.

    Parameters
    ----------
    data
        What a parser of JSON or YAML made of a text.
    """
    waiting: list[tuple[Place, object]] = [((), data)]
    while waiting:
        place, value = waiting.pop()
        if len(place) > MAX_DEPTH:
            return place, f"nested more than {MAX_DEPTH} levels deep"
        if isinstance(value, dict):
            for key in value:
                if (problem := _of_scalar(key)) is not None:
                    return place, f"a key {problem}"
            waiting += [((*place, key), part) for key, part in value.items()]
        elif isinstance(value, list):
            waiting += [((*place, index), part) for index, part in enumerate(value)]
        elif (problem := _of_scalar(value)) is not None:
            return place, problem
    return None


def _of_scalar(value: object) -> str | None:
    if not isinstance(value, _SCALARS):
        return f"is of a type that has no place here ({type(value).__name__})"
    if isinstance(value, str) and not value.isascii() and _HALF_PAIR.search(value):
        return "holds half of a surrogate pair, which no text can"  # an escape such as \ud800 that stands alone
    return None
