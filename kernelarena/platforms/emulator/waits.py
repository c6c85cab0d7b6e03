"""Which registers still wait for memory, counted as ``s_waitcnt`` counts.

A load has its value at once here; what is kept is when a wave may look at it. Loads and stores of vector memory come
back in order (vmcnt), so do accesses to local memory among themselves (lgkmcnt), and scalar loads in any order, so
that only ``lgkmcnt(0)`` says anything of them (ISA guides, "Manually inserted wait states", "Data dependency").
"""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.state import Group

VECTOR_MEMORY, LOCAL, SCALAR_MEMORY = "vmcnt", "lgkmcnt", "lgkmcnt(0)"
_MOST = 63
"""What vmcnt's six bits can count. A wave issues no access beyond until the oldest is done; LLVM counts on that."""


class Waits:
    """Outstanding loads of a batch.

    Parameters
    ----------
    waves
        How many waves.
    doubtful
        The set of registers that are not simply there, which this one adds to.
    """

    def __init__(self, waves: int, doubtful: set[int]) -> None:
        self._doubtful = doubtful
        self._issued = {name: np.zeros(waves, np.int64) for name in ("vmcnt", "lgkmcnt")}
        self._done = {name: np.zeros(waves, np.int64) for name in (VECTOR_MEMORY, LOCAL, SCALAR_MEMORY)}
        self.due: dict[int, tuple[str, Array]] = {}
        self._local_writes = np.zeros(waves, np.int64)

    def issue(self, group: Group, queue: str, registers: tuple[int, ...]) -> None:
        """Count an access, whose registers are there when it is done."""
        issued = self._issued[queue[:7]]
        issued[group.take] += 1
        if queue == VECTOR_MEMORY:
            done = self._done[queue]
            done[group.take] = np.maximum(done[group.take], issued[group.take] - _MOST)
        for register in registers:
            kept = self.due.get(register)
            # In-order queues wait for the later one; between queues the one that is still out was waited for before.
            turns = kept[1] if kept and kept[0] == queue else np.zeros(len(issued), np.int64)
            turns[group.take] = issued[group.take]
            self.due[register] = (queue, turns)
            self._doubtful.add(register)

    def issue_local_write(self, group: Group) -> None:
        """Count a write to local memory out of registers."""
        self.issue(group, LOCAL, ())
        self._local_writes[group.take] = self._issued[LOCAL][group.take]

    def unsettled_writers(self, waves: Array) -> Array:
        """Return which of some waves have written to local memory and not waited for the last of it.

        Writes past the registers are not among them: pipelines have several on their way, and wait for the oldest.
        """
        found: Array = waves[self._local_writes[waves] > self._done[LOCAL][waves]]
        return found

    def settle(self, group: Group, counter: str, left: int) -> set[int]:
        """Take note of a wait until ``left`` accesses are outstanding; return the registers that are now free."""
        issued = self._issued[counter][group.take]
        queues = [VECTOR_MEMORY] if counter == "vmcnt" else [LOCAL, SCALAR_MEMORY] if left == 0 else [LOCAL]
        for queue in queues:
            done = self._done[queue]
            done[group.take] = np.maximum(done[group.take], issued - left)
        free = {
            register
            for register, (queue, turns) in self.due.items()
            if queue in queues and not (turns > self._done[queue]).any()
        }
        for register in free:
            del self.due[register]
        return free

    def outstanding(self, group: Group, register: int) -> tuple[str, Array] | None:
        """Return what a register waits for, and ``bool[waves]``: which waves of the group have not waited."""
        due = self.due.get(register)
        if due is None:
            return None
        queue, turns = due
        waiting = turns[group.take] > self._done[queue][group.take]
        return (queue, waiting) if waiting.any() else None
