"""Memory that two processes share for the tensors of a call, wherever kernels run.

The judge makes it, hands a descriptor over, and both sides see the same bytes. On the host that is a sealed file in
memory. A backend whose devices can share theirs brings an :class:`Exchange` of its own
(:mod:`kernelarena.platforms.backend`); where none can, bytes are copied through the host's.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

PAGE = mmap.PAGESIZE
Fence = tuple[int, int]
"""Start and length of a stretch that a candidate makes inaccessible, in whole pages."""


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


class HostExchange:
    """Sealed files in memory, for kernels that run on the host's processor."""

    alignment = 16
    page = PAGE
    fenced = True

    def allocate(self, size: int, fences: Sequence[Fence] = ()) -> SharedFile:
        """Return a file of at least ``size`` bytes; the fences are put up by the other side."""
        return SharedFile(size)

    def attach(self, descriptor: int, fences: Sequence[Fence]) -> MappedFile:
        """Map a file and make the fences inaccessible."""
        return MappedFile(descriptor, fences)


class SharedFile:
    """An anonymous file in memory, mapped into this process; its size can never change.

    Parameters
    ----------
    size
        Bytes; rounded up to pages.
    """

    def __init__(self, size: int) -> None:
        size = max(PAGE, round_up(size, PAGE))
        self.descriptor = os.memfd_create("arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, size)
            seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)
            self.bytes = torch.from_numpy(np.frombuffer(mmap.mmap(self.descriptor, size), dtype=np.uint8))
        except BaseException:
            os.close(self.descriptor)
            raise

    def publish(self) -> None:
        """Do nothing: both sides map the same pages."""

    def fetch(self) -> None:
        """Do nothing: both sides map the same pages."""

    def close(self) -> None:
        """Close the descriptor; pages go when the last mapping does."""
        os.close(self.descriptor)


class MappedFile:
    """A shared file as the other side maps it.

    Parameters
    ----------
    descriptor
        The file; it is mapped and closed.
    fences
        Stretches that fault when they are touched.
    """

    def __init__(self, descriptor: int, fences: Sequence[Fence] = ()) -> None:
        try:
            mapped = np.frombuffer(mmap.mmap(descriptor, os.fstat(descriptor).st_size), dtype=np.uint8)
        finally:
            os.close(descriptor)
        libc = ctypes.CDLL(None, use_errno=True)
        for start, length in fences:
            if libc.mprotect(ctypes.c_void_p(mapped.ctypes.data + start), ctypes.c_size_t(length), 0) != 0:
                raise OSError(ctypes.get_errno(), "cannot protect the pages behind an input")
        self.bytes = torch.from_numpy(mapped)

    def fetch(self) -> None:
        """Do nothing: both sides map the same pages."""

    def publish(self) -> None:
        """Do nothing: both sides map the same pages."""


def round_up(value: int, step: int) -> int:
    """Return the smallest multiple of ``step`` that is not below ``value``."""
    return -(-value // step) * step
