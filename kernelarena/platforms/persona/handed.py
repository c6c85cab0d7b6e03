"""Tells a kernel that computed an output from one that was handed it and carried it over.

Operators are observed where torch dispatches them, and host code has other means: another thread, another process,
NumPy, plain Python. Whatever they are, a launch must be handed what they came to. So the bytes of whatever is handed to
a launch, and did not come out of another one, are remembered; an output that is the same, byte by byte, was no
kernel's work.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Sequence

import numpy as np
import torch

from kernelarena.platforms.persona.ledger import Ledger

_MOST = 1 << 22  # bytes; larger tensors are not worth the time
Before = Sequence[tuple[torch.Tensor, set[bytes]]]


class Handed:
    """What launches were handed, where launches take place in this process's memory.

    What a launch of an earlier call made may be handed to one of this call: a workspace that is kept, still holding
    what it held, is about to be written again.

    Parameters
    ----------
    ledger
        Entries of all storages.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._foreign: set[bytes] = set()
        self._made: set[bytes] = set()

    def next_call(self) -> None:
        """Start the next call: nothing has been handed to any launch of it."""
        self._foreign.clear()

    def launching(self, tensors: Sequence[torch.Tensor]) -> Before:
        """Note what a launch is about to be handed; what it returns is for :meth:`launched`."""
        before = [(tensor, _digests(tensor)) for tensor in tensors]
        for tensor, digests in before:
            entry = self._ledger.find(tensor)
            if entry is None or not (entry.argument or entry.derived):
                self._foreign |= digests - self._made
        return before

    def launched(self, before: Before) -> None:
        """Note what the launch made of it."""
        for tensor, digests in before:
            self._made |= _digests(tensor) - digests - self._foreign

    def was(self, output: torch.Tensor) -> bool:
        """Return whether a launch was handed exactly what ``output`` holds.

        What an argument holds too may be handed to a launch in a copy, and come back.
        """
        digest = _digest(output)
        if digest is None or digest not in self._foreign:
            return False
        return all(digest != _digest(argument) for argument in self._ledger.arguments())


def _digests(tensor: torch.Tensor) -> set[bytes]:
    """Return digests of a tensor's elements and of all the memory that it is a view of."""
    storage = tensor.untyped_storage()
    item = tensor.element_size()
    whole = _of_bytes(_read(storage.data_ptr(), (storage.nbytes() // item,), (item,), item), item)
    return {digest for digest in (_digest(tensor), whole) if digest is not None}


def _digest(tensor: torch.Tensor) -> bytes | None:
    """Return a digest of a tensor's elements in order; None where they say nothing, being few or all the same."""
    if tensor.layout != torch.strided or tensor.untyped_storage().device.type != "cpu":
        return None
    item = tensor.element_size()
    strides = tuple(step * item for step in tensor.stride())
    return _of_bytes(_read(tensor.data_ptr(), tuple(tensor.size()), strides, item), item)


def _read(address: int, size: tuple[int, ...], strides: tuple[int, ...], item: int) -> bytes:
    """Return what lies in memory; nothing if that is too little or too much to say anything.

    Read as memory, and not through torch: nothing here shall be taken for the kernel's own doing.
    """
    if not 1 < math.prod(size) <= _MOST // item:
        return b""
    extent = sum((length - 1) * step for length, step in zip(size, strides, strict=True)) + item
    memory = memoryview((ctypes.c_char * extent).from_address(address)).cast("B")
    raw: bytes = np.ndarray(size, dtype=f"V{item}", buffer=memory, strides=strides).tobytes()
    return raw


def _of_bytes(raw: bytes, item: int) -> bytes | None:
    if raw == raw[:item] * (len(raw) // item):
        return None
    return hashlib.sha1(raw, usedforsecurity=False).digest()
