"""A source file in hand, and where in it something stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kernelarena.spec.base import StrEnum


class Grammar(StrEnum):
    """What a file is parsed as."""

    CPP = "c++"
    PYTHON = "python"


GRAMMARS = {
    ".py": Grammar.PYTHON,
    **dict.fromkeys((".cu", ".cuh", ".hip", ".h", ".hpp", ".hh", ".cpp", ".cc", ".cxx", ".inl"), Grammar.CPP),
}
"""By suffix."""


@dataclass(frozen=True)
class Source:
    """The text of one file.

    Attributes
    ----------
    path
        What it is called in findings.
    grammar
        What to parse it as.
    text
        As it stands in the file.
    """

    path: str
    grammar: Grammar
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines as parsers count them: ended by line feeds, and by nothing else."""
        return self.text.split("\n")


@dataclass(frozen=True)
class Unreadable:
    """A file whose text cannot be had; what lies beside it can be looked at all the same.

    Attributes
    ----------
    why
        One line that begins with the file's name.
    """

    why: str


@dataclass(frozen=True)
class Span:
    """A stretch of text; lines and columns from 1, columns in characters, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
