"""What launches of Triton's interpreter load and store, by the memory that it lies in.

The interpreter goes through four functions of native code for all of it. A kernel that is handed a tensor may leave it
alone; here is seen what it did.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from kernelarena.platforms.persona.patching import Patches


class Traffic:
    """What one launch did to the memory that it was handed, and where else it wrote.

    Parameters
    ----------
    tensors
        What it was handed.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        spans = {}
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if storage.nbytes():
                spans[storage.data_ptr()] = storage.data_ptr() + storage.nbytes()
        starts = sorted(spans)
        self._index = {start: index for index, start in enumerate(starts)}
        self._starts = np.array(starts, dtype=np.uint64)
        self._ends = np.array([spans[start] for start in starts] + [0], dtype=np.uint64)  # the last one is of nothing
        self._loaded = [0] * len(self._ends)
        self._stored = [False] * len(self._ends)
        self.strays: list[tuple[int, int]] = []
        """First and last address of stores to memory that it was not handed itself, but the address of."""

    def load(self, addresses: Any, mask: Any, size: int) -> None:
        """Note what is about to be loaded: arrays of one shape, and the bytes at each address."""
        for index, some in self._where(addresses, mask):
            self._loaded[index] += some.size * size

    def store(self, addresses: Any, mask: Any) -> None:
        """Note what is about to be stored."""
        for index, some in self._where(addresses, mask):
            self._stored[index] = True
            if index == len(self._starts):
                self.strays.append((int(some.min()), int(some.max())))

    def loaded(self, tensor: torch.Tensor) -> int:
        """Return how many bytes were loaded from a tensor's memory, each as often as it was."""
        index = self._index.get(tensor.untyped_storage().data_ptr())
        return 0 if index is None else self._loaded[index]

    def stored(self, tensor: torch.Tensor) -> bool:
        """Return whether anything was stored to a tensor's memory."""
        index = self._index.get(tensor.untyped_storage().data_ptr())
        return index is not None and self._stored[index]

    def _where(self, addresses: Any, mask: Any) -> Iterator[tuple[int, Any]]:
        """Yield the positions of spans, and which of the addresses lie there; the position after all: nowhere."""
        some = addresses.ravel() if mask.all() else addresses[mask]
        if not some.size:
            return
        first = int(np.searchsorted(self._starts, some.min(), side="right")) - 1
        if first >= 0 and some.max() < self._ends[first]:
            yield first, some
            return
        found = np.searchsorted(self._starts, some, side="right") - 1  # a table of pointers, or a wild one
        found[some >= self._ends[found]] = len(self._starts)
        for index in np.unique(found).tolist():
            yield index, some[found == index]


class Meter:
    """Stands in the interpreter's way to memory, and counts for the launch that is under way in its thread."""

    def __init__(self) -> None:
        self._now = _Now()

    @contextmanager
    def launch(self, tensors: Sequence[torch.Tensor]) -> Iterator[Traffic]:
        """Count what is loaded and stored within."""
        before, self._now.traffic = self._now.traffic, Traffic(tensors)
        try:
            yield self._now.traffic
        finally:
            self._now.traffic = before

    def install(self, patches: Patches, interpreter: Any) -> None:
        """Put the meter between the interpreter's module and its native half."""
        patches.set(interpreter, _interpreter=_Metered(interpreter._interpreter, self._now))


class _Now(threading.local):
    traffic: Traffic | None = None


class _Metered:
    """The interpreter's native half, with a look at what goes through."""

    def __init__(self, native: Any, now: _Now) -> None:
        def load(addresses: Any, mask: Any, other: Any, *rest: Any) -> Any:
            if now.traffic is not None:
                now.traffic.load(addresses, mask, other.itemsize)
            return native.load(addresses, mask, other, *rest)

        def store(addresses: Any, values: Any, mask: Any) -> Any:
            if now.traffic is not None:
                now.traffic.store(addresses, mask)
            return native.store(addresses, values, mask)

        def atomic_rmw(kind: Any, addresses: Any, values: Any, mask: Any, *rest: Any) -> Any:
            if now.traffic is not None:
                now.traffic.load(addresses, mask, values.itemsize)
                now.traffic.store(addresses, mask)
            return native.atomic_rmw(kind, addresses, values, mask, *rest)

        def atomic_cas(addresses: Any, expected: Any, *rest: Any) -> Any:
            if now.traffic is not None:
                everywhere = np.ones(addresses.shape, dtype=bool)
                now.traffic.load(addresses, everywhere, expected.itemsize)
                now.traffic.store(addresses, everywhere)
            return native.atomic_cas(addresses, expected, *rest)

        self._native = native
        self.load, self.store, self.atomic_rmw, self.atomic_cas = load, store, atomic_rmw, atomic_cas

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)
