"""Results: from a function's array to registers, through the modifiers of the destination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instructions.kinds import Kind
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.dpp import LaneMove
from kernelarena.platforms.emulator.units.reading import _SELECTIONS as SELECTIONS
from kernelarena.platforms.emulator.units.reading import flushed

Writer = Callable[[Group, Array, "Array | None"], None]
"""Takes the group, the value, and the lanes to write where they are not those of EXEC."""


@dataclass(frozen=True)
class Target:
    """A destination: what the text names, and the kind of what goes there."""

    operand: Operand
    kind: Kind


def vector_writer(target: Target, statement: Statement, flushes: bool, sources: int) -> Writer:
    """Return what writes a result of a vector instruction.

    Raises
    ------
    Unsupported
        For a destination or a modifier that is not modelled.
    """
    register, kind = target.operand.value, target.kind
    if not isinstance(register, Register):
        raise Unsupported(statement.text)
    if kind.name == "mask":
        return _mask_writer(register, statement)
    if register.scalar:
        raise Unsupported(statement.text)
    finish = _finish(kind, statement, flushes)
    first = register.first
    if kind.registers == 2:
        return _pair_writer(first, kind, finish)
    place = _placed(first, kind, statement, sources)

    def write(group: Group, value: Array, mask: Array | None) -> None:
        group.set_vector(first, place(group, _bits(finish(value), kind)), mask)

    return write


def _mask_writer(register: Register, statement: Statement) -> Writer:
    if not register.scalar:
        raise Unsupported(statement.text)
    first = register.first

    def write(group: Group, value: Array, mask: Array | None) -> None:
        group.set_mask(first, value & (group.exec if mask is None else mask))

    return write


def _pair_writer(first: int, kind: Kind, finish: Callable[[Array], Array]) -> Writer:
    def write(group: Group, value: Array, mask: Array | None) -> None:
        value = np.ascontiguousarray(finish(value))
        words = value.view(np.uint32) if kind.parts else value[..., None].view(np.uint32)
        group.set_vector(first, words[..., 0], mask)
        group.set_vector(first + 1, words[..., 1], mask)

    return write


def _finish(kind: Kind, statement: Statement, flushes: bool) -> Callable[[Array], Array]:
    """Apply output modifier, clamp and flushing; a float's only (integers clamp in their own functions)."""
    steps: list[Callable[[Array], Array]] = [lambda value: value.astype(kind.dtype, copy=False)]
    if kind.dtype.kind == "f":
        factor = _output_modifier(statement)
        if factor != 1:
            scale = kind.dtype.type(factor)
            steps.append(lambda value: value * scale)
        if "clamp" in statement.modifiers:
            steps.append(_clamped)
        if flushes and kind.flushes:
            steps.append(flushed)
    elif "mul" in statement.modifiers or "div" in statement.modifiers:
        raise Unsupported(statement.text)
    if len(steps) == 1:
        return steps[0]

    def finish(value: Array) -> Array:
        for step in steps:
            value = step(value)
        return value

    return finish


def _output_modifier(statement: Statement) -> float:
    return float(statement.number("mul", 1)) / statement.number("div", 1)


def _clamped(value: Array) -> Array:
    # NaN becomes zero: DX10_CLAMP, which the launch demands to be set.
    return np.where(value > 0, np.minimum(value, value.dtype.type(1)), value.dtype.type(0))


def _bits(value: Array, kind: Kind) -> Array:
    """Return a value of one register as ``uint32``, narrow ones in the low bits."""
    if kind.parts:
        return np.ascontiguousarray(value).view(np.uint32)[..., 0]
    if kind.bits == 16:
        return value.view(np.uint16).astype(np.uint32)
    return value.view(np.uint32)


def _placed(first: int, kind: Kind, statement: Statement, sources: int) -> Callable[[Group, Array], Array]:
    """Return what puts narrow bits into their place in the register."""
    if statement.encoding == "sdwa":
        return _selected(first, statement)
    if kind.bits == 16 and not kind.parts:
        high = bool(statement.bits("op_sel", 4)[sources]) and kind.name != "mix"
        if high or kind.keeps:
            shift, kept = np.uint32(16 if high else 0), np.uint32(0xFFFF if high else 0xFFFF_0000)
            return lambda group, bits: (group.vector(first) & kept) | (bits << shift)
    return lambda group, bits: bits


def _selected(first: int, statement: Statement) -> Callable[[Group, Array], Array]:
    selection = statement.modifiers.get("dst_sel", "DWORD")
    if selection == "DWORD":
        return lambda group, bits: bits
    start, width = SELECTIONS[str(selection)]
    mask, shift = np.uint32((1 << width) - 1), np.uint32(start)
    unused = statement.modifiers.get("dst_unused", "UNUSED_PAD")
    if unused == "UNUSED_PRESERVE":
        kept = np.uint32(~(int(mask) << start) & 0xFFFF_FFFF)
        return lambda group, bits: (group.vector(first) & kept) | ((bits & mask) << shift)
    if unused == "UNUSED_PAD":
        return lambda group, bits: (bits & mask) << shift
    right = np.int32(32 - width)
    left = np.uint32(32 - width)
    return lambda group, bits: ((bits << left).view(np.int32) >> right).view(np.uint32) << shift


def write_mask(move: LaneMove | None, group: Group) -> Array | None:
    """Return the lanes that a moved source lets an instruction write, or None for those of EXEC."""
    if move is None or (move.zero_fill and not move.selective):
        return None
    return move.mask(group.exec)
