"""Which bits of which registers nothing has defined."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.assembly.operands import SCC, VECTOR
from kernelarena.platforms.emulator.lanes import LANES, Array, packed
from kernelarena.platforms.emulator.state import Group, State

_ALL = np.uint32(0xFFFF_FFFF)


class Shadow:
    """Undefined bits of a batch's registers: 1 where nothing has written the bit.

    Parameters
    ----------
    state
        The registers.
    doubtful
        The set of registers that are not simply there, which this one adds to and takes from.
    given
        Registers that the launch fills.
    """

    def __init__(self, state: State, doubtful: set[int], given: set[int]) -> None:
        self._state = state
        self._doubtful = doubtful
        self._never = (set(range(SCC + 1)) | set(state.vectors)) - given
        self._partly: dict[int, Array] = {}
        doubtful |= self._never

    def knows(self, register: int) -> bool:
        """Return whether all of a register is defined."""
        return register not in self._never and register not in self._partly

    def undefined(self, group: Group, register: int) -> Array | None:
        """Return the undefined bits, ``uint32[waves, 64]`` or ``[waves, 1]``; None where there are none."""
        if register in self._never:
            return np.full((1, 1), _ALL)
        found = self._partly.get(register)
        if found is None:
            return None
        part: Array = found[group.take]
        return part if register >= VECTOR else part[:, None]

    def define(self, group: Group, register: int, undefined: Array | None, mask: Array | None) -> None:
        """Take note of a write.

        Parameters
        ----------
        register
            What is written.
        undefined
            Bits of the new value that are undefined; for a scalar register ``[waves]``.
        mask
            Lanes that are written, None for all of them (and for scalar registers).
        """
        whole = group.count == len(self._state.condition)
        if undefined is not None and not undefined.any():
            undefined = None
        if undefined is None and self.knows(register):
            return
        if undefined is None and whole and (mask is None or group.full):
            self._never.discard(register)
            self._partly.pop(register, None)
            return
        bits = self._bits(register)
        new = np.uint32(0) if undefined is None else undefined
        if register >= VECTOR and mask is not None and not (mask is group.exec and group.full):
            bits[group.take] = np.where(mask, new, bits[group.take])
        else:
            bits[group.take] = new
        if not bits.any():
            del self._partly[register]
        else:
            self._doubtful.add(register)

    def _bits(self, register: int) -> Array:
        found = self._partly.get(register)
        if found is None:
            waves = len(self._state.condition)
            shape = (waves, LANES) if register >= VECTOR else (waves,)
            found = np.full(shape, _ALL if register in self._never else 0, np.uint32)
            self._never.discard(register)
            self._partly[register] = found
        return found


class ShadowView:
    """The undefined bits of a group's registers, read and written as the registers themselves are.

    Whatever moves registers about (sources, destinations, moves between lanes) works on this as on a ``Group``.

    Parameters
    ----------
    shadow
        Of the batch.
    group
        The group.
    """

    def __init__(self, shadow: Shadow, group: Group) -> None:
        self._shadow = shadow
        self.group = group
        self.count = group.count
        self.exec = group.exec
        self.full = group.full

    def vector(self, register: int) -> Array:
        """Return undefined bits, ``uint32[waves, 64]``."""
        found = self._shadow.undefined(self.group, register)
        return np.broadcast_to(np.uint32(0) if found is None else found, (self.count, LANES))

    def scalar(self, register: int) -> Array:
        """Return undefined bits, ``uint32[waves]``."""
        found = self._shadow.undefined(self.group, register)
        return np.zeros(self.count, np.uint32) if found is None else np.broadcast_to(found, (self.count, 1))[:, 0]

    def pair(self, register: int) -> Array:
        """Return undefined bits of two scalar registers, ``uint64[waves]``."""
        high = self.scalar(register + 1).astype(np.uint64) << np.uint64(32)
        return self.scalar(register).astype(np.uint64) | high

    def set_vector(self, register: int, bits: Array, mask: Array | None = None) -> None:
        """Write in the lanes of EXEC, or of a mask."""
        self._shadow.define(self.group, register, bits, self.exec if mask is None else mask)

    def set_whole_vector(self, register: int, bits: Array) -> None:
        """Write every lane."""
        self._shadow.define(self.group, register, bits, None)

    def set_scalar(self, register: int, bits: Array) -> None:
        """Write a scalar register."""
        self._shadow.define(self.group, register, bits, None)

    def set_pair(self, register: int, bits: Array) -> None:
        """Write two scalar registers."""
        self.set_scalar(register, (bits & np.uint64(_ALL)).astype(np.uint32))
        self.set_scalar(register + 1, (bits >> np.uint64(32)).astype(np.uint32))

    def set_mask(self, register: int, mask: Array) -> None:
        """Write lanes' booleans into a pair of scalar registers."""
        self.set_pair(register, packed(np.broadcast_to(mask, (self.count, LANES))))

    @property
    def condition(self) -> Array:
        """Whether SCC is undefined."""
        return self.scalar(SCC) != 0

    @condition.setter
    def condition(self, value: Array) -> None:
        self.set_scalar(SCC, np.where(value, _ALL, np.uint32(0)))
