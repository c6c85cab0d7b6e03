"""What everyone has in common who is told of what Triton compiles and launches under a persona."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.toolchains.artefact import Needs


class Launches:
    """Follows each specialisation from its compilation to its launches, by a number that its source is given.

    Parameters
    ----------
    ledger
        Knows which tensors play the device's.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._tuning = 0
        self._needs: dict[bytes, Needs] = {}

    @contextlib.contextmanager
    def tuning(self) -> Iterator[None]:
        """Take what is compiled and launched within for an autotuner's trial."""
        self._tuning += 1
        try:
            yield
        finally:
            self._tuning -= 1

    def needs_of(self, binary: bytes) -> Needs:
        """Return what a binary that was just compiled needs."""
        return self._needs.get(binary, Needs())

    def loading(self, source: Any) -> int:
        """Note that a specialisation is about to be loaded, and return its number.

        Raises
        ------
        NotImplementedError
            If it was not compiled from source.
        """
        number: int | None = getattr(source, "_persona_number", None)
        if number is None:
            raise NotImplementedError("launching a binary that was not compiled from Triton source is not supported")
        return number
