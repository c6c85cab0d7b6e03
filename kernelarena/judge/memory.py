"""Memory that two processes share for the tensors of a call: sealed files, where kernels run on the host's processor.

A backend whose devices can share theirs brings an exchange of its own (:mod:`kernelarena.platforms.exchange`); where
none can, bytes are copied through the host's.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from kernelarena.platforms.exchange import Exchange, Fence, SharedMemory, Window

__all__ = [
    "PAGE", "Exchange", "Fence", "HostExchange", "MappedFile", "SharedFile", "SharedMemory", "Window",
    "handed_over", "round_up",
]  # fmt: skip

PAGE = mmap.PAGESIZE


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


@contextlib.contextmanager
def handed_over(data: bytes) -> Iterator[int]:
    """Yield the descriptor of a file in memory that holds ``data``, to be sent to another process."""
    descriptor = os.memfd_create("handed", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def round_up(value: int, step: int) -> int:
    """Return the smallest multiple of ``step`` that is not below ``value``."""
    return -(-value // step) * step
