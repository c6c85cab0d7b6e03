"""What a page of tables holds; how it is written is for others to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace


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
    long: frozenset[str] = frozenset()
    """Columns of texts so long that only a page with room for them shows them."""
    secondary: bool = False
    """Whether it can be folded away."""

    def without_long(self) -> Section:
        """Return the section as it fits where there is little room."""
        kept = [at for at, name in enumerate(self.columns) if name not in self.long]
        rows = [tuple(row[at] for at in kept) for row in self.rows]
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=rows)


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
