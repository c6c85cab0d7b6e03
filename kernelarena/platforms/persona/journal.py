"""A record that nothing can be taken out of unnoticed.

The account of a call lies in the process of the kernel that it is about, where a kernel that climbs its callers' frames
can reach it. Each entry therefore goes into a chain of digests too, which is kept where frames do not lead: in a
generator, whose variables cannot be set from outside.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Journal(Generic[Entry]):
    """Entries in order. They must be immutable: equal entries have equal digests."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._chain = _chain()
        next(self._chain)

    def add(self, entry: Entry) -> None:
        """Write an entry at the end."""
        self._entries.append(entry)
        self._chain.send(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @property
    def intact(self) -> bool:
        """Whether it holds what was written, and all of it."""
        own = _chain()
        next(own)
        for entry in self._entries:
            own.send(entry)
        return next(own) == next(self._chain)


def _chain() -> Generator[int, object, None]:
    """Receive entries; yield, when nothing is sent, the digest of all of them."""
    digest = 0
    while True:
        if (entry := (yield digest)) is not None:
            digest = hash((digest, entry))
