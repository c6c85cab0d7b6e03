"""Memory that two processes share for the tensors of a call, wherever kernels run: what any kind of it offers.

The judge makes it, hands a descriptor over, and both sides see the same bytes once one has published and the other has
fetched them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

Fence = tuple[int, int]
"""Start and length of a stretch that a candidate has nothing behind, in whole pages."""


class SharedMemory(Protocol):
    """The judge's side of some shared bytes."""

    @property
    def bytes(self) -> torch.Tensor:
        """All of it: one dimension, ``uint8``, where kernels run."""

    @property
    def descriptor(self) -> int:
        """The open file that makes the other side see it."""

    def publish(self) -> None:
        """Make what the judge wrote visible to the candidate; called before each call."""

    def fetch(self) -> None:
        """Make what the candidate wrote visible to the judge; called after each call."""

    def close(self) -> None:
        """Give it back. The candidate's side of it lives on for as long as the candidate holds it."""


class Window(Protocol):
    """The candidate's side of some shared bytes. They stay mapped while any tensor over them exists."""

    @property
    def bytes(self) -> torch.Tensor:
        """All of it: one dimension, ``uint8``, where kernels run."""

    def fetch(self) -> None:
        """Make what the judge wrote visible here; called before each call."""

    def publish(self) -> None:
        """Make what was written here visible to the judge; called after each call."""


class Exchange(Protocol):
    """Makes shared memory of one kind, and opens it on the other side."""

    @property
    def alignment(self) -> int:
        """Bytes; what a device allocator gives at least, and what compilers specialise on."""

    @property
    def page(self) -> int:
        """Bytes that memory is mapped by."""

    @property
    def fenced(self) -> bool:
        """Whether stretches can be made inaccessible to the candidate."""

    def allocate(self, size: int, fences: Sequence[Fence] = ()) -> SharedMemory:
        """Return at least ``size`` bytes.

        Parameters
        ----------
        size
            How many.
        fences
            Where the other side will have nothing; here, whatever is written there is of no use.

        Raises
        ------
        MemoryError
            If there are not so many.
        """

    def attach(self, descriptor: int, fences: Sequence[Fence]) -> Window:
        """Open what the other side allocated; the descriptor is owned from now on.

        Raises
        ------
        OSError
            If it cannot be mapped, or the fences cannot be put up.
        """
