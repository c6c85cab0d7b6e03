"""Instructions between lanes: readlane and its kin, and swaps of halves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import VECTOR
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import WHOLE, Instruction
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.scalar import scalar_reader

Move = Callable[[Registers, Group], None]
"""Moves registers, or their undefined bits; the group says which lanes."""


def _read_first(statement: Statement) -> Instruction:
    target, source = _registers(statement, 2)
    if source.scalar:
        raise Unsupported(statement.text)

    def lane(group: Group) -> Array:
        return group.exec.argmax(axis=1)  # lane 0 where EXEC is empty

    return _read(statement, target, source, lane, ())


def _read_lane(statement: Statement) -> Instruction:
    target, source = _registers(statement, 2)
    chooser = statement.operands[2]
    read = scalar_reader(chooser, KINDS["u32"], statement)
    selects = chooser.value.all if isinstance(chooser.value, Register) else ()

    def lane(group: Group) -> Array:
        return np.broadcast_to(read(group) & np.uint32(LANES - 1), (group.count,))

    return _read(statement, target, source, lane, selects)


def _read(
    statement: Statement, target: Register, source: Register, lane: Callable[[Group], Array], selects: tuple[int, ...]
) -> Instruction:
    def move(registers: Registers, group: Group) -> None:
        registers.set_scalar(target.first, registers.vector(source.first)[np.arange(group.count), lane(group)])

    return _moving(statement, move, (source.first, *selects), target.all, dict.fromkeys(selects, WHOLE))


def _write_lane(statement: Statement) -> Instruction:
    (target,) = _registers(statement, 1)
    value = scalar_reader(statement.operands[1], KINDS["u32"], statement)
    chooser = scalar_reader(statement.operands[2], KINDS["u32"], statement)
    constant = isinstance(statement.operands[1].value, Constant)

    def move(registers: Registers, group: Group) -> None:  # whatever EXEC says
        lane = np.broadcast_to(chooser(group) & np.uint32(LANES - 1), (group.count,))
        chosen = lane[:, None] == np.arange(LANES)
        given = value(registers)[:, None] if registers is group or not constant else np.zeros((1, 1), np.uint32)
        registers.set_vector(target.first, np.broadcast_to(given, (group.count, LANES)), chosen)

    others = [number for one in statement.operands[1:] if isinstance(one.value, Register) for number in one.value.all]
    return _moving(statement, move, tuple(others), target.all)


def _swap(statement: Statement) -> Instruction:
    first, second = _registers(statement, 2)

    def move(registers: Registers, group: Group) -> None:
        kept = registers.vector(first.first).copy()
        registers.set_vector(first.first, registers.vector(second.first))
        registers.set_vector(second.first, kept)

    both = (first.first, second.first)
    return _moving(statement, move, both, both)


def _permuted_swap(width: int) -> Callable[[Statement], Instruction]:
    """``v_permlane16_swap``, ``v_permlane32_swap``: the odd blocks of the first with the even ones of the second."""
    odd = np.arange(LANES) // width % 2 == 1
    partner = np.arange(LANES) ^ width

    def decode(statement: Statement) -> Instruction:
        first, second = _registers(statement, 2)

        def move(registers: Registers, group: Group) -> None:
            a, b = registers.vector(first.first).copy(), registers.vector(second.first).copy()
            registers.set_vector(first.first, np.where(odd, b[:, partner], a))
            registers.set_vector(second.first, np.where(odd, b, a[:, partner]))

        both = (first.first, second.first)
        return _moving(statement, move, both, both)

    return decode


def _moving(
    statement: Statement,
    move: Move,
    reads: tuple[int, ...],
    writes: tuple[int, ...],
    vital: dict[int, int] | None = None,
) -> Instruction:
    """Return an instruction that moves undefined bits as it moves others."""
    return Instruction(statement, "lanes", lambda group: move(group, group), reads, writes, vital or {}, shade=move)


def _registers(statement: Statement, count: int) -> list[Register]:
    found = [operand.value for operand in statement.operands[:count]]
    registers = [one for one in found if isinstance(one, Register)]
    if len(registers) != count:
        raise Unsupported(statement.text)
    if isinstance(found[0], Constant) or (count == 2 and registers[1].first < VECTOR):
        raise Unsupported(statement.text)
    return registers


NAMES: dict[str, Callable[[Statement], Instruction]] = {
    "v_readfirstlane_b32": _read_first,
    "v_readlane_b32": _read_lane,
    "v_writelane_b32": _write_lane,
    "v_swap_b32": _swap,
    "v_permlane16_swap_b32": _permuted_swap(16),
    "v_permlane32_swap_b32": _permuted_swap(32),
}
"""By mnemonic."""
