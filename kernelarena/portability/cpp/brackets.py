"""Brackets that have no partner: where a file is cut short, so that what is around them cannot be understood.

A tree with errors in it says less: the grammar knows nothing of macros, and code that is full of them has errors
everywhere. Brackets are counted in the text, since the tree of a broken file drops some.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelarena.portability.cpp.preprocessor import Region, is_first

_TOKEN = re.compile(
    r"""//(?:\\\r?\n|[^\n])*
      | /\*.*?(?:\*/|\Z)
      | ^[ \t]*\#(?:\\\r?\n|/\*.*?\*/|(?!/[/*])[^\n])*  # a directive with its continued lines
      | \bR"([^()\\\s]*)\(.*?\)\1"
      | "(?:\\.|[^"\\\n])*"
      | \b\d(?:'?\w)*                                  # a number, with its digit separators
      | '(?:\\.|[^'\\\n])*'
      | (?P<bracket>[][(){}])""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def unmatched(text: str, regions: Sequence[Region | None]) -> tuple[int, str] | None:
    """Return the first bracket that has no partner, as its line from 1 and what is wrong; None if all have one.

    Parameters
    ----------
    text
        The file.
    regions
        What each line stands in; of branches that exclude each other one is followed.
    """
    waiting: list[tuple[str, int]] = []
    row = at = 0
    for match in _TOKEN.finditer(text):
        bracket = match["bracket"]
        if bracket is None:
            continue
        row += text.count("\n", at, match.start())
        at = match.start()
        if not is_first(regions[row]):
            continue
        if bracket in _CLOSING:
            waiting.append((bracket, row + 1))
        elif not waiting:
            return row + 1, f"unmatched '{bracket}'"
        else:
            opened, line = waiting.pop()
            if _CLOSING[opened] != bracket:
                return line, f"'{opened}' was never closed"
    if not waiting:
        return None
    opened, line = waiting[0]
    return line, f"'{opened}' was never closed"
