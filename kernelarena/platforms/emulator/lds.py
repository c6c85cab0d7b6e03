"""Local data share: a workgroup's own memory, with what hardware does not tell.

Beside each byte stand who wrote it and who read it since the workgroup's last barrier, and whether anybody ever wrote
it. All four are arrays of bytes laid out alike, so that whatever gathers a word of data gathers the rest likewise.
"""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.fault import FaultKind
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.memory import AccessError, Allocation, gathered, scattered

_MANY, _ATOMIC, _ALIKE = 255, 254, 253
_GROUP, _WAVE, _ADDRESS = 40, 32, 0xFFFF_FFFF
_BYTES = np.uint32(0x01010101)  # spreads a byte over a word


class LocalMemory:
    """The local memory of a batch of workgroups.

    Parameters
    ----------
    groups
        How many workgroups.
    size
        Bytes of each.
    shared
        Whether a workgroup has several waves, which may race.
    """

    def __init__(self, groups: int, size: int, shared: bool) -> None:
        self.size = size
        self._stride = -(-size // 16) * 16
        whole = groups * self._stride
        self._data, self._written, self._writer, self._reader = np.zeros((4, max(whole, 16)), np.uint8)
        self._frame = Allocation(0, whole, "local memory", True, True, self._data, None)
        self._shared = shared

    def read(self, places: Array, size: int) -> Array:
        """Read for each of n lanes.

        Parameters
        ----------
        places
            ``int64[n]``: see :func:`places`.
        size
            Bytes.

        Returns
        -------
        Array
            ``uint32[n, max(1, size // 4)]``.

        Raises
        ------
        AccessError
            For an access out of bounds, of what nobody wrote, or in a race.
        """
        offsets, waves = self._offsets(places, size)
        if self._shared:
            self._note_reads(offsets, waves, places, size)
        return self._gather(offsets, size, self._data)

    def write(self, places: Array, values: Array, size: int) -> None:
        """Write ``uint32[n, max(1, size // 4)]``; see ``read``."""
        offsets, waves = self._offsets(places, size)
        if self._shared:
            self._write_in_turn(offsets, waves, places, values, size)
        else:
            self._scatter(offsets, size, self._data, values)
        self._scatter(offsets, size, self._written, np.full_like(values, _BYTES))

    def undefined(self, places: Array, size: int) -> Array:
        """Return the bits of what ``read`` returns that nobody has written."""
        found = self._gather(self._offsets(places, size)[0], size, self._written)
        return (found ^ self._full(size)) * np.uint32(255)

    def undefine(self, places: Array, undefined: Array, size: int) -> None:
        """Take note that what was just written holds undefined bits: their bytes count as not written."""
        octets = np.ascontiguousarray(undefined).view(np.uint8) == 0
        self._scatter(self._offsets(places, size)[0], size, self._written, octets.view(np.uint32))

    def read_for_update(self, places: Array, size: int) -> Array:
        """Read what an atomic operation is about to replace; atomic operations of different waves do not race."""
        wrong = places & (size - 1) != 0
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise AccessError(FaultKind.MISALIGNED, first, f"atomic on {_named(places[first], size)}")
        offsets, waves = self._offsets(places, size)
        self._check_written(offsets, places, size)
        if self._shared:
            mine = self._own(waves, size)
            writer, reader = self._gather(offsets, size, self._writer), self._gather(offsets, size, self._reader)
            atomic = np.uint32(_ATOMIC) * self._full(size)
            foreign = ((writer != atomic) & _foreign(writer, mine)) | _foreign(reader, mine)
            self._no_race(foreign, places, size, "updates", "which another wave has used")
            self._scatter(offsets, size, self._writer, np.broadcast_to(atomic, writer.shape))
        return self._gather(offsets, size, self._data)

    def update(self, places: Array, values: Array, size: int) -> None:
        """Write the result of an atomic operation."""
        self._scatter(self._offsets(places, size)[0], size, self._data, values)

    def barrier(self, group: int, unsettled: Array) -> None:
        """Forget who read and wrote: from here on all of it is in order.

        Parameters
        ----------
        group
            The workgroup in the batch.
        unsettled
            Those of its waves whose writes may still be on their way: these stay noted.
        """
        start = group * self._stride
        writer = self._writer[start : start + self._stride]
        writer[:] = np.where(np.isin(writer, unsettled + 1), writer, 0) if len(unsettled) else 0
        self._reader[start : start + self._stride] = 0

    def _note_reads(self, offsets: Array, waves: Array, places: Array, size: int) -> None:
        mine = self._own(waves, size)
        writer = self._gather(offsets, size, self._writer)
        self._no_race(_foreign(writer, mine), places, size, "reads", "which another wave has written")
        reader = self._gather(offsets, size, self._reader)
        many = np.uint32(_MANY) * self._full(size)
        self._scatter(offsets, size, self._reader, np.where(_foreign(reader, mine), many, mine))
        again = self._gather(offsets, size, self._reader)  # several waves at this very instruction
        if (again != mine).any():
            self._scatter(offsets, size, self._reader, np.where(again != mine, many, again))

    def _write_in_turn(self, offsets: Array, waves: Array, places: Array, values: Array, size: int) -> None:
        """Write, and look for waves in each other's way.

        Several waves that write the same value race to no effect, and compilers have them do so.
        """
        mine = self._own(waves, size)
        values = values & np.uint32((1 << 8 * min(size, 4)) - 1)
        changes = self._gather(offsets, size, self._data) != values
        writer, reader = self._gather(offsets, size, self._writer), self._gather(offsets, size, self._reader)
        written = _foreign(writer, mine)
        self._no_race(written & changes, places, size, "writes", "which another wave has written")
        self._no_race(_foreign(reader, mine) & changes, places, size, "writes", "which another wave has read")
        self._scatter(offsets, size, self._data, values)
        self._scatter(offsets, size, self._writer, mine)
        together = self._gather(offsets, size, self._writer) != mine
        if together.any():
            different = self._gather(offsets, size, self._data) != values
            self._no_race(together & different, places, size, "writes", "as another wave does")
        if together.any() or written.any():
            alike = np.uint32(_ALIKE) * self._full(size)
            self._scatter(offsets, size, self._writer, np.where(together | written, alike, mine))

    def _no_race(self, foreign: Array, places: Array, size: int, does: str, other: str) -> None:
        if foreign.any():
            first = int(np.flatnonzero(foreign.any(axis=1))[0])
            words = f"{does} {_named(places[first], size)}, {other}, with no barrier after s_waitcnt between"
            raise AccessError(FaultKind.LDS_RACE, first, words)

    def _check_written(self, offsets: Array, places: Array, size: int) -> None:
        unwritten = self._gather(offsets, size, self._written) != self._full(size)
        if unwritten.any():
            first = int(np.flatnonzero(unwritten.any(axis=1))[0])
            raise AccessError(FaultKind.UNINITIALISED_MEMORY, first, f"{_named(places[first], size)} never written")

    def _offsets(self, places: Array, size: int) -> tuple[Array, Array]:
        """Return offsets into the batch's memory, and the wave of each lane."""
        addresses = places & _ADDRESS
        if int(addresses.max()) + size > self.size:
            first = int(np.flatnonzero(addresses + size > self.size)[0])
            words = f"{_named(places[first], size)}; the workgroup has {self.size}"
            raise AccessError(FaultKind.LDS_OUT_OF_BOUNDS, first, words)
        return (places >> _GROUP) * self._stride + addresses, places >> _WAVE & 0xFF

    def _own(self, waves: Array, size: int) -> Array:
        mine = (waves + 1).astype(np.uint32) * self._full(size)
        return np.broadcast_to(mine[:, None], (len(waves), max(1, size // 4)))

    @staticmethod
    def _full(size: int) -> np.uint32:
        """Return a word of ones in each of the bytes that an access has."""
        return np.uint32(int(_BYTES) & ((1 << 8 * min(size, 4)) - 1))

    def _gather(self, offsets: Array, size: int, memory: Array) -> Array:
        return gathered(self._frame, offsets, size, memory)

    def _scatter(self, offsets: Array, size: int, memory: Array, values: Array) -> None:
        scattered(self._frame, offsets, size, memory, values)


def _foreign(noted: Array, mine: Array) -> Array:
    """Return where some byte of a word was noted for another wave."""
    if not noted.any():
        return np.zeros(noted.shape, np.bool_)
    alike = np.uint32(_ALIKE) * _BYTES
    different = (noted != 0) & (noted != mine) & (noted != alike)
    if not different.any():
        return different
    # A word may hold bytes of this wave and bytes that nobody touched.
    octets = np.ascontiguousarray(noted).view(np.uint8)
    own = np.ascontiguousarray(mine).view(np.uint8)
    return ((octets != 0) & (octets != own) & (octets != _ALIKE)).reshape(*noted.shape, 4).any(axis=-1)


def _named(place: int, size: int) -> str:
    return f"{size} bytes of local memory at {int(place) & _ADDRESS}"


def places(groups: Array, waves: Array, addresses: Array) -> Array:
    """Return who accesses what in one number each, so that lanes can be picked and reordered.

    Parameters
    ----------
    groups, waves
        ``int64``: the workgroup in the batch, and the wave in the workgroup.
    addresses
        Bytes within the workgroup's memory, from 0 to below 2**32.
    """
    return groups << _GROUP | waves << _WAVE | addresses


def cells(places: Array) -> Array:
    """Return which memory is accessed, whoever does it."""
    return places & ~(0xFF << _WAVE)
