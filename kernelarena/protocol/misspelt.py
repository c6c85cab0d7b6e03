"""Tells a name that somebody misspelt from one that a library of another version has."""

from __future__ import annotations

from collections.abc import Iterable

_SHORTEST = 3
"""Letters; shorter names are a slip away from too much."""


def meant(word: str, known: Iterable[str]) -> str:
    """Return the known name that ``word`` is one slip away from, or nothing.

    A slip is a letter too many, one too few, another one, or two that changed places (Damerau, *A technique for
    computer detection and correction of spelling errors*, 1964: most misspellings are one of these).
    """
    if len(word) < _SHORTEST:
        return ""
    return next((name for name in sorted(known) if len(name) >= _SHORTEST and _one_slip(word, name)), "")


def _one_slip(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) == 1:
        return any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))
    if len(longer) != len(shorter):
        return False
    places = [place for place, (left, right) in enumerate(zip(one, other, strict=True)) if left != right]
    if len(places) == 2:
        first, second = places
        return second == first + 1 and one[first] == other[second] and one[second] == other[first]
    return len(places) == 1
