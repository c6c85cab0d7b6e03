"""Finds the first error in what compilers, assemblers and linkers print, and where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MOST_CHARACTERS = 6000
"""Of output that is kept: an error in a template may print megabytes."""

_FORMS = tuple(
    re.compile(expression)
    for expression in (
        r"(?P<file>[^\s:(]+):(?P<line>\d+):\d+: (?:fatal )?error: (?P<message>.+)",  # clang, gcc
        r"(?P<file>[^\s:(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<message>.+)",  # nvcc
        r"(?:At end of source|At the end of the source|Command-line): (?:catastrophic )?error: (?P<message>.+)",
        r"ptxas [^,]+, line \d+; (?:error|fatal)\s*: (?P<message>.+)",
        r"(?:ptxas|nvlink|nvcc) (?:error|fatal)\s*: (?P<message>.+)",
        r"(?:\S*lld|\S*clang\S*|\S*ld): (?:fatal )?error: (?P<message>.+)",
        r"(?:fatal error|LLVM ERROR|error): (?P<message>.+)",
        r"\S*ld: .*(?P<message>undefined reference to .+)",
    )
)
_SYNTAX = re.compile(
    r"expected |extraneous |unterminated|missing terminating|missing closing|unrecognized token|unmatched "
    r"|invalid preprocessing|stray |unexpected end|this declaration has no storage class or type specifier",
)


@dataclass(frozen=True)
class Diagnostic:
    """An error.

    Attributes
    ----------
    message
        One line.
    file, line
        As printed; None where it is not about a line.
    """

    message: str
    file: str | None = None
    line: int | None = None

    @property
    def is_syntax(self) -> bool:
        """Whether the text is no C++ at all, whatever its names mean."""
        return _SYNTAX.match(self.message) is not None


def first_error(output: str) -> Diagnostic | None:
    """Return the first error of a compiler's output; None where none is printed."""
    for line in output.splitlines():
        for form in _FORMS:
            match = form.match(line.strip())
            if match is not None:
                named = match.groupdict()
                place = named.get("line")
                return Diagnostic(named["message"].strip(), named.get("file"), None if place is None else int(place))
    return None


def excerpt(output: str, is_remark: Callable[[str], bool]) -> str:
    """Return the beginning of a compiler's output, where its errors are, without what it was asked to print."""
    kept = "\n".join(line for line in output.splitlines() if not is_remark(line)).strip()
    if len(kept) <= MOST_CHARACTERS:
        return kept
    cut = kept[:MOST_CHARACTERS].rpartition("\n")[0] or kept[:MOST_CHARACTERS]
    return f"{cut}\n… and {kept.count(chr(10)) - cut.count(chr(10))} lines more"
