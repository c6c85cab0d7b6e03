"""Launches a kernel: workgroups in batches, each to its end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernelarena.errors import InputError
from kernelarena.platforms.emulator.abi import Dim, Launch, Value, begin, dispatch_packet, kernarg_segment
from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.examine import Examiner
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.lds import LocalMemory
from kernelarena.platforms.emulator.memory import Allocation, Memory
from kernelarena.platforms.emulator.program import Kernel, Program
from kernelarena.platforms.emulator.schedule import ClockedScheduler, Scheduler
from kernelarena.platforms.emulator.shadow import Shadow
from kernelarena.platforms.emulator.state import Seats, State
from kernelarena.platforms.emulator.waits import Waits

BUDGET = 1_000_000
"""Instructions of one wave after which it counts as endless."""
_BATCH_BYTES = 64 << 20  # registers of the waves that run together
_BATCH_WAVES = 256
_RESIDENT = 104
"""Workgroups that are at work together for certain: the smallest of these chips has as many compute units."""


@dataclass
class Tally:
    """What a launch came to.

    Attributes
    ----------
    instructions
        Wave-instructions by unit.
    seconds
        Wall time.
    seconds_by_unit
        Of that, what instructions took, by unit; empty unless the launch was clocked.
    """

    instructions: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    seconds_by_unit: dict[str, float] = field(default_factory=dict)


def launch(
    program: Program, kernel: str, grid: Dim, block: Dim, arguments: Sequence[Value], memory: Memory, *,
    dynamic_lds: int = 0, budget: int = BUDGET, clocked: bool = False,
) -> Tally:  # fmt: skip
    """Run a kernel over a grid.

    Parameters
    ----------
    program
        From :func:`load`.
    kernel
        Its name.
    grid, block
        Workgroups in x, y, z; work-items of one.
    arguments
        In the order of the kernel's metadata, without the hidden ones: addresses, integers, floats, or raw bytes.
    memory
        What it may touch.
    dynamic_lds
        Bytes of local memory beyond what the kernel has by itself.
    budget
        Instructions that one wave may run.
    clocked
        Whether to take the time of each instruction.

    Returns
    -------
    Tally
        What was run.

    Raises
    ------
    Fault
        At the first thing that the kernel does wrong. What it has written until then stays.
    Unsupported
        If it does with an instruction what is not modelled, and the text could not tell: a few read whole waves.
    InputError
        If the launch does not fit the kernel.
    """
    begun = time.perf_counter()
    if kernel not in program.kernels:
        missing = "; ".join(program.missing.get(kernel, ())) or "there is no such kernel in the program"
        raise InputError(f"{kernel}: cannot be run: {missing}")
    made = program.kernels[kernel]
    threads = block[0] * block[1] * block[2]
    if not 0 < threads <= made.text.max_threads:
        raise InputError(f"{kernel}: is built for at most {made.text.max_threads} work-items; it is given {threads}")
    tally = Tally()
    segment = kernarg_segment(made.text, arguments, grid, block, dynamic_lds)
    with _Added(memory) as added, np.errstate(all="ignore"):
        kernarg = added.add(segment, "kernel arguments")
        packet = added.add(dispatch_packet(grid, block, kernarg.base), "dispatch packet")
        for data in made.data:
            added.add_array(data.content, data.name, writable=True)
        how = Launch(grid, block, kernarg.base, packet.base, segment)
        for workgroups in _batches(made, how):
            _run(made, how, Seats(workgroups, how.waves_each), memory, dynamic_lds, budget, tally, clocked)
    tally.seconds = time.perf_counter() - begun
    return tally


class _Added:
    """Memory of the launch itself, for as long as it runs."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._made: list[Allocation] = []

    def __enter__(self) -> _Added:
        return self

    def __exit__(self, *_: object) -> None:
        for allocation in self._made:
            self._memory.remove(allocation)

    def add(self, content: bytes, label: str, *, writable: bool = False) -> Allocation:
        """Add memory that holds something; kernels may not write to it unless asked for."""
        return self.add_array(np.frombuffer(bytearray(content + b"\0" * (-len(content) % 64 or 64)), np.uint8), label)

    def add_array(self, data: Array, label: str, *, writable: bool = False, unwritten: bool = False) -> Allocation:
        made = self._memory.add(
            data.ctypes.data, len(data), label, writable=writable, unwritten=unwritten, owner=data
        )  # fmt: skip
        self._made.append(made)
        return made


def _batches(kernel: Kernel, launch: Launch) -> Iterator[Array]:
    """Yield the indices of workgroups that run together: as many as registers fit into a fixed amount of memory.

    Where that is fewer than a chip surely holds at once, it is so many: they may wait for each other.
    """
    registers = kernel.vectors + kernel.accumulators
    waves = max(1, min(_BATCH_WAVES, _BATCH_BYTES // (registers * LANES * 4)))
    each = max(_RESIDENT, waves // launch.waves_each)
    x, y, z = launch.grid
    for start in range(0, x * y * z, each):
        flat = np.arange(start, min(start + each, x * y * z))
        yield np.stack([flat % x, flat // x % y, flat // (x * y)], axis=1)


def _run(
    kernel: Kernel, launch: Launch, seats: Seats, memory: Memory, dynamic_lds: int, budget: int, tally: Tally,
    clocked: bool,
) -> None:  # fmt: skip
    state = State(seats, kernel.vectors, kernel.accumulators)
    descriptor = kernel.text.descriptor
    scratch_size = descriptor.get("private_segment_fixed_size", 0)
    with _Added(memory) as added:
        scratch = 0
        if scratch_size:
            room = np.zeros(seats.waves * LANES * scratch_size, np.uint8)
            scratch = added.add_array(room, "scratch", writable=True, unwritten=True).base
        doubtful: set[int] = set()
        given = begin(state, kernel.text, replace(launch, scratch=scratch))
        waits = Waits(seats.waves, doubtful)
        examiner = Examiner(Shadow(state, doubtful, given), waits, doubtful)
        local = LocalMemory(
            len(seats.workgroups),
            descriptor.get("group_segment_fixed_size", 0) + dynamic_lds,
            shared=seats.waves_each > 1,
        )
        counter = np.full(seats.waves, kernel.text.entry, np.int64)
        batch = Batch(state, waits, examiner, memory, local, counter, scratch, scratch_size)
        if clocked:
            ClockedScheduler(kernel, batch, budget, tally.instructions, tally.seconds_by_unit).run()
        else:
            Scheduler(kernel, batch, budget, tally.instructions).run()
