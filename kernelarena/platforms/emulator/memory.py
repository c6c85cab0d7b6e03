"""The memory that a launch may touch: allocations at the addresses that they have on the host."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.fault import FaultKind
from kernelarena.platforms.emulator.lanes import Array

_WORD = 4
_WORDS: dict[int, type[Any]] = {1: np.uint8, 2: np.uint16, 4: np.uint32}


class AccessError(Exception):
    """An access that no allocation allows.

    Parameters
    ----------
    kind
        The fault.
    index
        Which of the addresses, the first.
    words
        What is wrong with it.
    """

    def __init__(self, kind: FaultKind, index: int, words: str) -> None:
        super().__init__(words)
        self.kind = kind
        self.index = index
        self.words = words


@dataclass(frozen=True)
class Allocation:
    """A range of host memory.

    Attributes
    ----------
    base, size
        Address and bytes.
    label
        What people call it.
    readable, writable
        What a kernel may do to it.
    data
        ``uint8[size]``: the memory itself.
    written
        ``uint8[size]``: 1 where it has been written to; None where all of it counts as written.
    slack
        Bytes after it that words which begin in it may include; ``data`` and ``written`` go on for so long.
    """

    base: int
    size: int
    label: str
    readable: bool
    writable: bool
    data: Array
    written: Array | None
    slack: int = 0

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.base + self.size

    def words(self, width: int, offsets: Array, memory: Array) -> tuple[Array, Array] | None:
        """Return memory in words of a width and indices into it, or None where something is misaligned."""
        if (self.base | int(np.bitwise_or.reduce(offsets))) & (width - 1):
            return None
        whole = len(memory) // width * width
        return memory[:whole].view(_WORDS[width]), offsets // width


class Memory:
    """Allocations, looked up by address for many lanes at once."""

    def __init__(self) -> None:
        self._allocations: list[Allocation] = []
        self._bases = np.empty(0, np.int64)

    def add(
        self, base: int, size: int, label: str, *,
        readable: bool = True, writable: bool = True, unwritten: bool = False, owner: Array | None = None,
        slack: int = 0,
    ) -> Allocation:  # fmt: skip
        """Let launches touch a range.

        Parameters
        ----------
        base, size
            Address and bytes; it must stay mapped for as long as launches are made.
        label
            For messages: ``x, float32[33, 1000]``.
        readable, writable
            What is allowed.
        unwritten
            Whether reading a byte that no kernel has written is a fault.
        owner
            The memory as ``uint8[size]`` where the caller has it so.
        slack
            Bytes after it, less than a word, which whole words that begin in it may include: what is narrower is
            changed atomically by exchanging the word that it lies in.

        Raises
        ------
        ValueError
            If it overlaps another allocation.
        """
        place = int(np.searchsorted(self._bases, base))
        before = self._allocations[place - 1] if place else None
        after = self._allocations[place] if place < len(self._allocations) else None
        if (before and before.base + before.size > base) or (after and base + size > after.base):
            raise ValueError(f"{label} overlaps {(before or after or label)}")
        data, room = owner, size + slack
        if data is None:
            data = np.ctypeslib.as_array((ctypes.c_uint8 * room).from_address(base)) if size else np.empty(0, np.uint8)
        written = np.zeros(room, np.uint8) if unwritten else None
        made = Allocation(base, size, label, readable, writable, data, written, slack)
        self._allocations.insert(place, made)
        self._bases = np.array([one.base for one in self._allocations], np.int64)
        return made

    def remove(self, allocation: Allocation) -> None:
        """Forget an allocation."""
        self._allocations.remove(allocation)
        self._bases = np.array([one.base for one in self._allocations], np.int64)

    def read(self, addresses: Array, size: int) -> Array:
        """Read ``size`` bytes at each of ``int64[n]`` addresses.

        Returns
        -------
        Array
            ``uint32[n, max(1, size // 4)]``; narrow values are zero-extended.

        Raises
        ------
        AccessError
            If an address is outside of what may be read.
        """
        single = self._single(addresses, size)
        if single is not None:
            return self._read_from(single, addresses, size)
        result = np.empty((len(addresses), max(1, size // 4)), np.uint32)
        for allocation, chosen in self._split(addresses, size, FaultKind.ILLEGAL_READ):
            try:
                result[chosen] = self._read_from(allocation, addresses[chosen], size)
            except AccessError as error:
                raise AccessError(error.kind, int(np.flatnonzero(chosen)[error.index]), error.words) from None
        return result

    def write(self, addresses: Array, values: Array, size: int) -> None:
        """Write ``uint32[n, max(1, size // 4)]`` at each address; of equal addresses the last wins.

        Raises
        ------
        AccessError
            If an address is outside of what may be written.
        """
        single = self._single(addresses, size)
        if single is not None:
            self._write_to(single, addresses, values, size)
            return
        for allocation, chosen in self._split(addresses, size, FaultKind.ILLEGAL_WRITE):
            try:
                self._write_to(allocation, addresses[chosen], values[chosen], size)
            except AccessError as error:
                raise AccessError(error.kind, int(np.flatnonzero(chosen)[error.index]), error.words) from None

    def _single(self, addresses: Array, size: int) -> Allocation | None:
        """Return the allocation that all lie in, which is the usual case."""
        lowest, highest = int(addresses.min()), int(addresses.max())
        place = int(np.searchsorted(self._bases, lowest, "right")) - 1
        if place < 0:
            return None
        found = self._allocations[place]
        return found if highest + size <= found.end else None

    def _split(self, addresses: Array, size: int, kind: FaultKind) -> list[tuple[Allocation, Array]]:
        places = np.searchsorted(self._bases, addresses, "right") - 1
        found = []
        for place in np.unique(places):
            chosen = places == place
            allocation = self._allocations[place] if place >= 0 else None
            end = allocation.end if allocation else 0
            outside = chosen & (addresses + size > end)
            if allocation and allocation.slack and size == _WORD:
                outside &= (addresses & (_WORD - 1) != 0) | (addresses >= end)
            if outside.any():
                first = int(np.flatnonzero(outside)[0])
                raise AccessError(kind, first, self._astray(int(addresses[first]), size))
            assert allocation is not None
            found.append((allocation, chosen))
        return found

    def _read_from(self, allocation: Allocation, addresses: Array, size: int) -> Array:
        offsets = addresses - allocation.base
        if not allocation.readable:
            raise AccessError(FaultKind.ILLEGAL_READ, 0, f"{allocation.label} may not be read")
        if allocation.written is not None:
            unwritten = gathered(allocation, offsets, size, allocation.written) & 1 == 0
            if unwritten.any():
                first = int(np.flatnonzero(unwritten.any(axis=1))[0])
                words = f"{size} bytes at offset {int(offsets[first])} of {allocation.label} were never written"
                raise AccessError(FaultKind.UNINITIALISED_MEMORY, first, words)
        return gathered(allocation, offsets, size, allocation.data)

    def _write_to(self, allocation: Allocation, addresses: Array, values: Array, size: int) -> None:
        if not allocation.writable:
            raise AccessError(FaultKind.ILLEGAL_WRITE, 0, f"{allocation.label} may not be written")
        offsets = addresses - allocation.base
        scattered(allocation, offsets, size, allocation.data, values)
        if allocation.written is not None:
            scattered(allocation, offsets, size, allocation.written, np.full_like(values, 0x01010101))

    def _astray(self, address: int, size: int) -> str:
        """Say where an address is, by the nearest allocation."""
        what = f"{size} bytes at {address:#x}"
        if not self._allocations:
            return f"{what}: the launch has no memory"

        def distance(one: Allocation) -> int:
            return max(one.base - address, address + size - one.base - one.size)

        nearest = min(self._allocations, key=distance)
        if address < nearest.base:
            return f"{what}, {nearest.base - address} bytes before {nearest.label}"
        return f"{what}, offset {address - nearest.base} of {nearest.label} ({nearest.size} bytes)"


def gathered(allocation: Allocation, offsets: Array, size: int, memory: Array) -> Array:
    """Read words at byte offsets into memory that is aligned as the allocation is."""
    width = min(size, 4)
    words = allocation.words(width, offsets, memory)
    if words is None:
        octets = memory[offsets[:, None] + np.arange(size)]
        if size < 4:
            octets = np.concatenate([octets, np.zeros((len(octets), 4 - size), np.uint8)], axis=1)
        return np.ascontiguousarray(octets).view(np.uint32)
    view, index = words
    if size <= 4:
        return view[index].astype(np.uint32, copy=False)[:, None]
    return view[index[:, None] + np.arange(size // 4)]


def scattered(allocation: Allocation, offsets: Array, size: int, memory: Array, values: Array) -> None:
    """Write words likewise."""
    width = min(size, 4)
    words = allocation.words(width, offsets, memory)
    if words is None:
        octets = np.ascontiguousarray(values).view(np.uint8)[:, :size]
        memory[offsets[:, None] + np.arange(size)] = octets
        return
    view, index = words
    if size <= 4:
        view[index] = values[:, 0].astype(view.dtype, copy=False)
    else:
        view[index[:, None] + np.arange(size // 4)] = values
