"""What a page of tables holds; how it is written is for others to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Section:
    """A heading with a table under it. Texts are as strangers wrote them; whoever writes them out makes them safe."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    """What a reader should know of it, in a sentence or two of ours."""
    numeric: frozenset[str] = frozenset()
    """Columns of numbers, which are set to the right."""
    secondary: bool = False
    """Whether it can be folded away."""


@dataclass(frozen=True)
class Page:
    """A title, the answer in plain words, and tables: what matters most comes first."""

    title: str
    sentences: list[str]
    warnings: list[str] = field(default_factory=list)
    """What limits the answer."""
    sections: list[Section] = field(default_factory=list)
    """Those without a row are left out when written."""
    footer: str = ""

    @property
    def shown(self) -> list[Section]:
        """The sections that have something to show."""
        return [section for section in self.sections if section.rows]
