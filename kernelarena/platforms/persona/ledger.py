"""What is known of every tensor's memory while host code runs on a pretended device.

All memory is the host's; the ledger says which storages play the device's, which were handed to a kernel, and whether
what they hold can have come out of one. It is kept by storage, so that views share their base's entry.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from kernelarena.platforms.persona import digest

_ARGUMENTS = 64  # of the latest calls


@dataclass(frozen=True, eq=False)
class Work:
    """One computing operator of the framework that ran.

    Attributes
    ----------
    name
        ``aten::mm``.
    elements, flops
        See :class:`~kernelarena.platforms.persona.account.OperatorUse`.
    sources
        What its operands were computed by.
    """

    name: str
    elements: int
    flops: float
    sources: tuple[Work, ...]


@dataclass
class StorageFacts:
    """What is known of one storage.

    Attributes
    ----------
    device
        Whether it plays device memory.
    argument
        Whether the harness passed it to the kernel's entry.
    launched
        Whether it was handed to a launch since it was last overwritten as a whole.
    derived
        Whether framework operators computed it from what a launch may have written.
    earlier
        Whether it was there before the current call.
    work
        What framework operators computed of what it holds, in this call.
    content
        Digest of what it held when it was last written by someone whom the harness saw; None if that is not known.
    host
        Bytes that host code itself put there, in this call.
    call
        The number of the call that all this was noted in.
    """

    device: bool
    argument: bool = False
    launched: bool = False
    derived: bool = False
    earlier: bool = False
    work: list[Work] = field(default_factory=list)
    content: bytes | None = None
    host: int = 0
    call: int = 0

    def of_call(self, number: int) -> StorageFacts:
        """Forget what was noted of an earlier call than that."""
        if self.call != number:
            self.launched = self.derived = False
            self.earlier = True
            self.host = 0
            self.work.clear()
            self.call = number
        return self

    @property
    def from_kernel(self) -> bool:
        """Whether a kernel may have produced its values: not so for an input that a kernel merely read."""
        return self.derived or (self.launched and not self.argument)


class Ledger:
    """The entries of all storages, by identity."""

    def __init__(self) -> None:
        self._entries: dict[int, StorageFacts] = {}
        self._spans: dict[int, int] = {}
        """Where storages begin, and where they end."""
        self._call = 0
        self._arguments: deque[weakref.ref[torch.Tensor]] = deque(maxlen=_ARGUMENTS)

    def arguments(self) -> Iterator[torch.Tensor]:
        """Yield the tensors that the harness passed to the latest calls, as far as they are still there."""
        for reference in self._arguments:
            if (tensor := reference()) is not None:
                yield tensor

    def find(self, tensor: torch.Tensor) -> StorageFacts | None:
        """Return the entry of ``tensor``'s storage, or None if it is unknown or has no storage (sparse, meta)."""
        key = _key(tensor)
        entry = None if key is None else self._entries.get(key)
        return None if entry is None else entry.of_call(self._call)

    def addresses(self, tensor: torch.Tensor) -> int:
        """Return how many bytes of ``tensor``'s memory, read in words of eight, are addresses of known storages."""
        if tensor.dtype not in (torch.int64, torch.uint64) or not self._spans:
            return 0
        storage = tensor.untyped_storage()
        memory = digest.memory_at(storage.data_ptr(), storage.nbytes())
        words = np.frombuffer(memory, np.uint64, storage.nbytes() // 8)
        starts = np.sort(np.fromiter(self._spans, np.uint64, len(self._spans)))
        ends = np.array([self._spans[start] for start in starts.tolist()], np.uint64)
        found = np.searchsorted(starts, words, side="right")
        return 8 * int(np.count_nonzero((found > 0) & (words < ends[np.maximum(found, 1) - 1])))

    def on_device(self, tensor: torch.Tensor) -> bool:
        """Return whether ``tensor`` plays a device tensor. Memory of unknown origin is the host's."""
        entry = self.find(tensor)
        return entry is not None and entry.device

    def enter(self, tensor: torch.Tensor, *, device: bool, argument: bool = False) -> StorageFacts | None:
        """Return the entry of ``tensor``'s storage, made now if it is new.

        Parameters
        ----------
        tensor
            Of any kind; None is returned for one without storage.
        device
            Whether new memory plays the device's.
        argument
            Whether the harness passes it to the kernel's entry, which puts it on the device in any case.
        """
        key = _key(tensor)
        if key is None:
            return None
        entry = self._entries.get(key)
        if entry is None:
            # A weak reference keeps the storage's header, never its memory, so that no other storage can come to lie
            # at the same address and inherit the entry. It is not given back: the process does not live long.
            tensor.untyped_storage()._weak_ref()
            entry = self._entries[key] = StorageFacts(device, call=self._call)
            storage = tensor.untyped_storage()
            self._spans[storage.data_ptr()] = storage.data_ptr() + storage.nbytes()
        entry.of_call(self._call)
        if argument:
            entry.device = entry.argument = True
            self._arguments.append(weakref.ref(tensor))
        return entry

    def forget_launches(self) -> None:
        """Start the next call with no kernel having touched anything.

        Entries learn of it when they are next looked up: timed calls are thousands, and so are entries.
        """
        self._call += 1


def _key(tensor: torch.Tensor) -> int | None:
    try:
        storage = tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None
    return None if storage.device.type == "meta" else int(storage._cdata)
