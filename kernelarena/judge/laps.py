"""Where the time of a cell goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Laps:
    """Seconds by what they went to.

    Attributes
    ----------
    seconds
        So far, in the order in which each was begun.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count what happens within, however it ends, towards ``name``."""
        begun = time.monotonic()
        self.seconds.setdefault(name, 0.0)
        try:
            yield
        finally:
            self.seconds[name] += time.monotonic() - begun
