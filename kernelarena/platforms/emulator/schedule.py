"""Which waves of a batch run next, and when they meet.

Waves that stand at the same block run it together. Of several such groups the one at the smallest place goes first:
compilers lay code out so that paths join further down, and whoever waits there is caught up with. Whoever has run long
without the others is held back, so that waves may wait for one another in loops.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np

from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.fault import Fault, FaultKind
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.lanes import LANES
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.program import Block, Kernel
from kernelarena.platforms.emulator.state import Group

_PATIENCE = 5_000
"""Instructions by which waves at a smaller place may be ahead of others that could run."""


class Scheduler:
    """Runs a batch to its end.

    Parameters
    ----------
    kernel
        What runs.
    batch
        Its waves.
    budget
        How many instructions one wave may run.
    counts
        Wave-instructions by unit, which are added to.
    """

    def __init__(self, kernel: Kernel, batch: Batch, budget: int, counts: Counter[str]) -> None:
        self._kernel = kernel
        self._batch = batch
        self._budget = budget
        self._counts = counts
        self._spent = np.zeros(len(batch.counter), np.int64)
        self._group: Group | None = None

    def run(self) -> None:
        """Run every wave until it ends.

        Raises
        ------
        Fault
            At the first thing that is wrong.
        """
        while (group := self._next()) is not None:
            place = int(self._batch.counter[group.waves[0]])
            block = self._kernel.blocks[place]
            self._run_block(block, group)
            self._spent[group.take] += len(block.body)
            if int(self._spent[group.waves[0]]) > self._budget:
                raise self._fault(FaultKind.ENDLESS, f"more than {self._budget} instructions", block.body[-1], group)

    def _run_block(self, block: Block, group: Group) -> None:
        self._batch.counter[group.take] = block.next
        instruction = block.body[0]
        try:
            for instruction in block.body:
                self._run_one(instruction, group)
        except AccessError as error:
            raise self._fault(error.kind, error.words, instruction, group, error.index) from None
        for unit, count in block.units:
            self._counts[unit] += count * group.count

    def _run_one(self, instruction: Instruction, group: Group) -> None:
        examiner = self._batch.examiner
        if not examiner.doubtful.isdisjoint(instruction.touches):
            examiner.examine(instruction, group)
        if instruction.step is not None:
            instruction.step(group)
        elif instruction.reach is not None:
            instruction.reach(self._batch, group)

    def _next(self) -> Group | None:
        """Return the group to run, after letting go of barriers that are complete."""
        batch = self._batch
        if batch.waiting.any():
            self._release()
        runnable = ~(batch.ended | batch.waiting)
        if not runnable.any():
            return None
        waves = np.flatnonzero(runnable)
        counters, spent = batch.counter[waves], self._spent[waves]
        place = counters.min()
        if spent[counters == place].min() > spent.min() + _PATIENCE:
            # Whoever loops here may be waiting for one that has not had its turn.
            place = counters[spent.argmin()]
        chosen = waves[counters == place]
        if self._group is None or not np.array_equal(chosen, self._group.waves):
            self._group = Group(batch.state, chosen)
        return self._group

    def _release(self) -> None:
        """Let workgroups go on of which every wave that has not ended waits at a barrier."""
        batch, each = self._batch, self._batch.state.seats.waves_each
        waiting = batch.waiting.reshape(-1, each)
        complete = (waiting | batch.ended.reshape(-1, each)).all(axis=1) & waiting.any(axis=1)
        for group in np.flatnonzero(complete):
            members = np.arange(group * each, (group + 1) * each)
            held = members[batch.waiting[members]]
            self._check_barrier(members, held)
            batch.local.barrier(int(group), batch.waits.unsettled_writers(held) % each)
            batch.waiting[held] = False
            batch.counter[held] += 1

    def _check_barrier(self, members: np.ndarray, held: np.ndarray) -> None:
        batch = self._batch
        places = np.unique(batch.counter[held])
        instruction = self._at(int(places[0]))
        group = Group(batch.state, held[:1])
        if len(held) < len(members):
            gone = int(members[batch.ended[members]][0]) % len(members)
            words = f"waves wait here for wave {gone}, which has ended"
            raise self._fault(FaultKind.DIVERGENT_BARRIER, words, instruction, group)
        if len({self._at(int(place)).statement.place or place for place in places}) > 1:
            other = self._at(int(places[-1])).statement.place
            words = f"waves of the workgroup wait here, and others at another barrier{f', {other}' if other else ''}"
            raise self._fault(FaultKind.DIVERGENT_BARRIER, words, instruction, group)

    def _at(self, place: int) -> Instruction:
        """Return the barrier that a counter stands at: the last instruction of its block."""
        return self._kernel.barriers[place]

    def _fault(
        self, kind: FaultKind, words: str, instruction: Instruction, group: Group, index: int | None = None
    ) -> Fault:
        wave = int(group.waves[0 if index is None else index // LANES])
        lane = None if index is None else index % LANES
        return Fault(
            kind, words, kernel=self._kernel.text.name, instruction=instruction.statement.text,
            place=instruction.statement.place, where=self._batch.state.seats.where(wave, lane),
        )  # fmt: skip


class ClockedScheduler(Scheduler):
    """One that also takes the time by unit.

    Parameters
    ----------
    seconds
        Wall time by unit, which is added to.
    """

    def __init__(
        self, kernel: Kernel, batch: Batch, budget: int, counts: Counter[str], seconds: dict[str, float]
    ) -> None:
        super().__init__(kernel, batch, budget, counts)
        self._seconds = seconds

    def _run_one(self, instruction: Instruction, group: Group) -> None:
        begun = time.perf_counter()
        super()._run_one(instruction, group)
        self._seconds[instruction.unit] = self._seconds.get(instruction.unit, 0.0) + time.perf_counter() - begun
