"""Instructions between lanes: readlane and its kin, and swaps of halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import VECTOR
from kernelarena.platforms.emulator.carries import Undefined
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.scalar import scalar_reader


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
    def step(group: Group) -> None:
        group.set_scalar(target.first, group.vector(source.first)[np.arange(group.count), lane(group)])

    def carry(group: Group, sources: Sequence[Undefined]) -> Undefined:
        if sources[0] is None:
            return None
        bits = np.broadcast_to(sources[0], (group.count, LANES))
        return bits[np.arange(group.count), lane(group)][:, None]

    vital = dict.fromkeys(selects, 0xFFFF_FFFF)
    return Instruction(statement, "lanes", step, (source.first, *selects), target.all, vital, carry=carry)


def _write_lane(statement: Statement) -> Instruction:
    (target,) = _registers(statement, 1)
    value = scalar_reader(statement.operands[1], KINDS["u32"], statement)
    chooser = scalar_reader(statement.operands[2], KINDS["u32"], statement)

    def chosen(group: Group) -> Array:
        lane = np.broadcast_to(chooser(group) & np.uint32(LANES - 1), (group.count,))
        return lane[:, None] == np.arange(LANES)

    def step(group: Group) -> None:  # whatever EXEC says
        group.set_vector(target.first, np.broadcast_to(value(group)[:, None], (group.count, LANES)), chosen(group))

    def carry(group: Group, sources: Sequence[Undefined]) -> Undefined:
        if sources[0] is None:
            return None
        return np.where(chosen(group), np.uint32(0), sources[0])

    others = [number for one in statement.operands[1:] if isinstance(one.value, Register) for number in one.value.all]
    return Instruction(statement, "matrix", step, (target.first, *others), target.all, carry=carry)


def _swap(statement: Statement) -> Instruction:
    first, second = _registers(statement, 2)

    def step(group: Group) -> None:
        kept = group.vector(first.first).copy()
        group.set_vector(first.first, group.vector(second.first))
        group.set_vector(second.first, kept)

    both = (first.first, second.first)
    return Instruction(statement, "lanes", step, both, both)


def _permuted_swap(width: int) -> Callable[[Statement], Instruction]:
    """``v_permlane16_swap``, ``v_permlane32_swap``: the odd blocks of the first with the even ones of the second."""
    odd = np.arange(LANES) // width % 2 == 1
    partner = np.arange(LANES) ^ width

    def decode(statement: Statement) -> Instruction:
        first, second = _registers(statement, 2)

        def step(group: Group) -> None:
            a, b = group.vector(first.first).copy(), group.vector(second.first).copy()
            group.set_vector(first.first, np.where(odd, b[:, partner], a))
            group.set_vector(second.first, np.where(odd, b, a[:, partner]))

        both = (first.first, second.first)
        return Instruction(statement, "lanes", step, both, both)

    return decode


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
