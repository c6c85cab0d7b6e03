"""Scalar loads: whole dwords, one address a wave."""

from __future__ import annotations

import re

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import EXEC
from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.fault import FaultKind, Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, vital
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.descriptor import Descriptor
from kernelarena.platforms.emulator.units.scalar import scalar_reader
from kernelarena.platforms.emulator.waits import SCALAR_MEMORY

_LOAD = re.compile(r"s_(buffer_)?load_dword(?:x(\d+))?$")


def decode_scalar_memory(statement: Statement) -> Instruction | None:
    """Return the instruction, or None where the statement is no scalar load."""
    found = _LOAD.match(statement.mnemonic)
    if found is None:
        return None
    count = int(found[2] or 1)
    target, base = (operand.value for operand in statement.operands[:2])
    if not isinstance(target, Register) or not isinstance(base, Register) or target.first + count > EXEC:
        raise Unsupported(statement.text)
    offset = scalar_reader(statement.operands[2], KINDS["u32"], statement)
    more = statement.number("offset")
    buffered = bool(found[1])

    def load(batch: Batch, group: Group) -> None:
        by = offset(group).astype(np.int64) + more
        if buffered:
            values = _buffer_load(batch, Descriptor(group.scalars(base.first, 4)), by, count)
        else:
            addresses = np.broadcast_to(group.pair(base.first).astype(np.int64) + by, (group.count,))
            # The two low bits of a scalar address are ignored: what the code means is then not what it gets.
            wrong = addresses & 3 != 0
            if wrong.any():
                raise AccessError(FaultKind.MISALIGNED, int(np.flatnonzero(wrong)[0]) * 64, "scalar load off a dword")
            values = batch.memory.read(addresses, count * 4)
        group.set_scalars(target.first, values)
        batch.waits.issue(group, SCALAR_MEMORY, target.all)

    chosen = statement.operands[2].value
    reads = (*base.all, *(chosen.all if isinstance(chosen, Register) else ()))
    assert isinstance(chosen, Register | Constant)
    return Instruction(statement, "memory", None, reads, target.all, vital(reads), load)


def _buffer_load(batch: Batch, descriptor: Descriptor, by: Array, count: int) -> Array:
    waves = len(descriptor.base)
    offsets = np.broadcast_to(by, (waves,))[:, None] + 4 * np.arange(count)
    inside = offsets + 4 <= descriptor.records[:, None]
    values = np.zeros((waves, count), np.uint32)
    if inside.any():
        addresses = (descriptor.base[:, None] + offsets)[inside]
        values[inside] = batch.memory.read(addresses, 4)[:, 0]
    return values
