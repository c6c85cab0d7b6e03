"""The matrix unit: whole registers in, whole registers out, whatever EXEC says."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Operand, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import VECTOR
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.instructions.registry import Entry, takes
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.constants import constant_bits
from kernelarena.platforms.emulator.units.reading import Reader
from kernelarena.platforms.emulator.units.vector import registers


def decode_matrix(entry: Entry, statement: Statement) -> Instruction:
    """Return the instruction that a statement is.

    Raises
    ------
    Unsupported
        If an operand or a modifier is not modelled.
    """
    destination, *sources = statement.operands
    target = destination.value
    if not isinstance(target, Register) or target.scalar or len(sources) < 3:
        raise Unsupported(statement.text)
    modifiers: dict[str, Any] = dict(statement.modifiers)
    if not takes(entry.function, modifiers):
        raise Unsupported(statement.text)
    # C may be a constant, and is as wide as D.
    readers = [
        _reader(operand, target.count if number == 2 else 1, statement) for number, operand in enumerate(sources)
    ]
    function, first, count = entry.function, target.first, target.count

    def step(group: Group) -> None:
        result = function(*[read(group) for read in readers], **modifiers)
        for number in range(count):
            group.set_whole_vector(first + number, result[..., number])

    reads = tuple(number for operand in sources for number in registers(operand))
    return Instruction(statement, "matrix", step, reads, target.all)


def _reader(operand: Operand, count: int, statement: Statement) -> Reader:
    value = operand.value
    if isinstance(value, Constant):
        bits = np.uint32(constant_bits(value.value, KINDS["f32"]))
        return lambda group: np.full((group.count, LANES, count), bits, np.uint32)
    if not isinstance(value, Register) or value.first < VECTOR or operand.negated or operand.absolute:
        raise Unsupported(statement.text)
    numbers = value.all

    def read(group: Registers) -> Array:
        whole = np.empty((group.count, LANES, len(numbers)), np.uint32)
        for place, number in enumerate(numbers):
            whole[..., place] = group.vector(number)
        return whole

    return read
