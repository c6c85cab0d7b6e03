"""What can be read and written as a group's registers are: the registers, and their undefined bits."""

from __future__ import annotations

from typing import Protocol

from kernelarena.platforms.emulator.lanes import Array


class Registers(Protocol):
    """Registers of the waves of a group.

    Attributes
    ----------
    count
        How many waves.
    exec
        ``bool[waves, 64]``: the lanes that are enabled.
    full
        Whether all are.
    condition
        SCC, ``bool[waves]``.
    """

    count: int
    exec: Array
    full: bool

    @property
    def condition(self) -> Array:
        """Return SCC."""

    @condition.setter
    def condition(self, value: Array) -> None:
        """Write SCC."""

    def vector(self, register: int) -> Array:
        """Return ``uint32[waves, 64]``; not to be written to."""

    def set_vector(self, register: int, bits: Array, mask: Array | None = None) -> None:
        """Write a vector register in the lanes of EXEC, or of a mask."""

    def scalar(self, register: int) -> Array:
        """Return ``uint32[waves]``."""

    def pair(self, register: int) -> Array:
        """Return ``uint64[waves]`` of an even register and the next."""

    def set_scalar(self, register: int, value: Array) -> None:
        """Write ``uint32[waves]``."""

    def set_pair(self, register: int, value: Array) -> None:
        """Write ``uint64[waves]``."""

    def set_mask(self, register: int, mask: Array) -> None:
        """Write lanes' booleans into a pair of scalar registers."""
