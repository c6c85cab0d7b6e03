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
        if undefined is None and whole and (mask is None or group.full):
            self._never.discard(register)
            self._partly.pop(register, None)
            return
        bits = self._bits(register)
        new = np.uint32(0) if undefined is None else undefined
        if register >= VECTOR and mask is not None:
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


def as_mask_words(undefined: Array, count: int) -> tuple[Array, Array]:
    """Return lanes' undefined bits as those of the two scalar registers that hold a mask of lanes."""
    lanes = np.broadcast_to(undefined != 0, (count, LANES))
    words = packed(lanes)[:, None].view(np.uint32)
    return words[:, 0], words[:, 1]
