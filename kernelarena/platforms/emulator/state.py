"""The registers of a batch of waves, and the part of the batch that stands at one instruction.

Vector registers are ``uint32[waves, 64]`` each, scalar ones columns of ``uint32[waves, 128]``, so that an even pair is
one column of the same memory seen as ``uint64``. EXEC is kept twice: as bits, where scalar instructions see it, and as
booleans, which every vector instruction needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.assembly.operands import ACCUMULATION, EXEC, SCALAR, VECTOR
from kernelarena.platforms.emulator.fault import Where
from kernelarena.platforms.emulator.lanes import LANES, Array, packed, unpacked

_SCALARS = 128


@dataclass(frozen=True)
class Seats:
    """Which waves a batch is made of.

    Attributes
    ----------
    workgroups
        ``int64[groups, 3]``: the indices of each workgroup.
    waves_each
        Waves in a workgroup; wave ``i`` of the batch is of workgroup ``i // waves_each``.
    """

    workgroups: Array
    waves_each: int

    @property
    def waves(self) -> int:
        """How many waves in all."""
        return len(self.workgroups) * self.waves_each

    def where(self, wave: int, lane: int | None = None) -> Where:
        """Name a work-item for people."""
        group = self.workgroups[wave // self.waves_each]
        return Where((int(group[0]), int(group[1]), int(group[2])), wave % self.waves_each, lane)


class State:
    """Everything that the waves of a batch hold.

    Parameters
    ----------
    seats
        The waves.
    vectors, accumulators
        How many vector registers of either file a wave has.
    """

    def __init__(self, seats: Seats, vectors: int, accumulators: int) -> None:
        waves = seats.waves
        self.seats = seats
        self.scalars = np.zeros((waves, _SCALARS), np.uint32)
        self.pairs = self.scalars.view(np.uint64)
        self.condition = np.zeros(waves, np.bool_)
        self.exec = np.ones((waves, LANES), np.bool_)
        files = np.zeros((vectors + accumulators, waves, LANES), np.uint32)
        self.vectors: dict[int, Array] = {VECTOR + number: files[number] for number in range(vectors)}
        self.vectors.update({ACCUMULATION + number: files[vectors + number] for number in range(accumulators)})


class Group:
    """The waves of a batch that stand at the same instruction: what an instruction works on.

    Parameters
    ----------
    state
        Of the batch.
    waves
        Indices of the waves, ascending.
    """

    def __init__(self, state: State, waves: Array) -> None:
        self.state = state
        self.waves = waves
        self.count = len(waves)
        first, last = int(waves[0]), int(waves[-1])
        # A run of neighbours is a view of the registers, and all others a copy.
        self.contiguous = last - first + 1 == len(waves)
        self.take: slice | Array = slice(first, last + 1) if self.contiguous else waves
        self._look()

    def _look(self) -> None:
        self.exec = self.state.exec[self.take]
        self.full = bool(self.exec.all())

    def vector(self, register: int) -> Array:
        """Return ``uint32[waves, 64]``; not to be written to."""
        return self.state.vectors[register][self.take]

    def set_vector(self, register: int, bits: Array, mask: Array | None = None) -> None:
        """Write a vector register in the lanes of EXEC, or of a mask that is within it."""
        target = self.state.vectors[register]
        if mask is None:
            if self.full:
                target[self.take] = bits
                return
            mask = self.exec
        if self.contiguous:
            np.copyto(target[self.take], bits, where=mask)
        else:
            target[self.take] = np.where(mask, bits, target[self.take])

    def set_whole_vector(self, register: int, bits: Array) -> None:
        """Write every lane, whatever EXEC says."""
        self.state.vectors[register][self.take] = bits

    def scalar(self, register: int) -> Array:
        """Return ``uint32[waves]``."""
        return self.state.scalars[self.take, register - SCALAR]

    def pair(self, register: int) -> Array:
        """Return ``uint64[waves]`` of an even register and the next."""
        return self.state.pairs[self.take, register >> 1]

    def scalars(self, register: int, count: int) -> Array:
        """Return ``uint32[waves, count]``."""
        return self.state.scalars[self.take, register : register + count]

    def set_scalar(self, register: int, value: Array) -> None:
        """Write ``uint32[waves]``."""
        self.state.scalars[self.take, register] = value
        if register >= EXEC:
            self._read_exec()

    def set_pair(self, register: int, value: Array) -> None:
        """Write ``uint64[waves]``."""
        self.state.pairs[self.take, register >> 1] = value
        if register >= EXEC:
            self._read_exec()

    def set_scalars(self, register: int, values: Array) -> None:
        """Write ``uint32[waves, count]``."""
        self.state.scalars[self.take, register : register + values.shape[-1]] = values

    def _read_exec(self) -> None:
        self.state.exec[self.take] = unpacked(self.pair(EXEC))
        self._look()

    def set_mask(self, register: int, mask: Array) -> None:
        """Write lanes' booleans into a pair of scalar registers."""
        self.set_pair(register, packed(mask))

    @property
    def condition(self) -> Array:
        """SCC, ``bool[waves]``."""
        return self.state.condition[self.take]

    @condition.setter
    def condition(self, value: Array) -> None:
        self.state.condition[self.take] = value
