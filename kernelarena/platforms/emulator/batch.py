"""Workgroups that run together, and all that they share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernelarena.platforms.emulator.assembly.operands import LOCAL_APERTURE, PRIVATE_APERTURE
from kernelarena.platforms.emulator.examine import Examiner
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.lds import LocalMemory, places
from kernelarena.platforms.emulator.memory import Memory
from kernelarena.platforms.emulator.state import Group, State
from kernelarena.platforms.emulator.waits import Waits


@dataclass
class Batch:
    """What instructions that reach beyond registers work on.

    Attributes
    ----------
    state, waits, examiner
        Registers, and what is known of them.
    memory, local
        Global memory; the workgroups' own.
    counter
        ``int64[waves]``: the instruction at which each wave stands.
    scratch_base, scratch_size
        Where the waves' scratch begins, and bytes of a lane.
    ended, waiting
        ``bool[waves]``: waves that are done, and those at a barrier.
    """

    state: State
    waits: Waits
    examiner: Examiner
    memory: Memory
    local: LocalMemory
    counter: Array
    scratch_base: int = 0
    scratch_size: int = 0
    ended: Array = field(init=False)
    waiting: Array = field(init=False)

    def __post_init__(self) -> None:
        self.ended = np.zeros(len(self.counter), np.bool_)
        self.waiting = np.zeros(len(self.counter), np.bool_)
        each = self.state.seats.waves_each
        waves = np.arange(len(self.counter))
        self._groups = (waves // each)[:, None]
        self._waves = (waves % each)[:, None]

    def places(self, group: Group, addresses: Array) -> Array:
        """Return local addresses (their low 32 bits) as the lanes' places in local memory."""
        return places(self._groups[group.take], self._waves[group.take], addresses & 0xFFFF_FFFF)

    @staticmethod
    def in_local(addresses: Array) -> Array:
        """Return which flat addresses are of local memory."""
        return addresses >> 32 == LOCAL_APERTURE >> 32

    def flat_addresses(self, group: Group, addresses: Array) -> Array:
        """Return flat addresses with those of private memory as where it lies."""
        private = addresses >> 32 == PRIVATE_APERTURE >> 32
        if not private.any():
            return addresses
        return np.where(private, self.scratch_addresses(group, addresses & 0xFFFF_FFFF), addresses)

    def scratch_addresses(self, group: Group, offsets: Array) -> Array:
        """Return where each lane's own scratch lies in memory."""
        lanes = np.arange(len(self.counter))[group.take][:, None] * LANES + np.arange(LANES)
        # Beyond its own a lane must not see that of its neighbours.
        outside = (offsets < 0) | (offsets >= self.scratch_size)
        return np.where(outside, -1, self.scratch_base + lanes * self.scratch_size + offsets)
