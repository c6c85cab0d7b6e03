"""Results: from a function's array to registers, through the modifiers of the destination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.floats.parts import flushed
from kernelarena.platforms.emulator.instructions.kinds import Kind
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.units.dpp import LaneMove
from kernelarena.platforms.emulator.units.reading import SELECTIONS

Writer = Callable[[Registers, Array, "Array | None"], None]
"""Takes the group, what to write, and the lanes to write where they are not those of EXEC."""


@dataclass(frozen=True)
class Writing:
    """How a result is written.

    Attributes
    ----------
    kind
        What it is.
    finish
        Applies the modifiers of the destination to a value, and returns its bits.
    bits
        Writes unsigned integers of the kind's width.
    """

    kind: Kind
    finish: Callable[[Array], Array]
    bits: Writer


@dataclass(frozen=True)
class Target:
    """A destination: what the text names, and the kind of what goes there."""

    operand: Operand
    kind: Kind


def vector_writer(target: Target, statement: Statement, flushes: bool, sources: int) -> Writing:
    """Return what writes a result of a vector instruction.

    Raises
    ------
    Unsupported
        For a destination or a modifier that is not modelled.
    """
    register, kind = target.operand.value, target.kind
    if not isinstance(register, Register) or register.scalar != (kind.name == "mask"):
        raise Unsupported(statement.text)
    first = register.first
    if kind.name == "mask":
        return Writing(kind, _same, _mask_writer(first))
    finish = _finish(kind, statement, flushes)
    if kind.registers == 2:
        return Writing(kind, finish, _pair_writer(first, kind))
    place = _placed(first, kind, statement, sources)

    def write(group: Registers, bits: Array, mask: Array | None) -> None:
        group.set_vector(first, place(group, _in_register(bits, kind)), mask)

    return Writing(kind, finish, write)


def _same(value: Array) -> Array:
    return value


def _mask_writer(first: int) -> Writer:
    def write(group: Registers, value: Array, mask: Array | None) -> None:
        group.set_mask(first, value & (group.exec if mask is None else mask))

    return write


def _pair_writer(first: int, kind: Kind) -> Writer:
    def write(group: Registers, bits: Array, mask: Array | None) -> None:
        words = bits if kind.parts else np.ascontiguousarray(bits)[..., None].view(np.uint32)
        group.set_vector(first, words[..., 0], mask)
        group.set_vector(first + 1, words[..., 1], mask)

    return write


def _finish(kind: Kind, statement: Statement, flushes: bool) -> Callable[[Array], Array]:
    """Apply output modifier, clamp and flushing; a float's only (integers clamp in their own functions)."""
    steps: list[Callable[[Array], Array]] = []
    dtype, word = kind.dtype, np.dtype(f"u{kind.dtype.itemsize}")
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
    if not steps:
        return lambda value: value.astype(dtype, copy=False).view(word)

    def finish(value: Array) -> Array:
        value = value.astype(dtype, copy=False)
        for step in steps:
            value = step(value)
        return value.view(word)

    return finish


def _output_modifier(statement: Statement) -> float:
    return float(statement.number("mul", 1)) / statement.number("div", 1)


def _clamped(value: Array) -> Array:
    # NaN becomes zero: DX10_CLAMP, which the launch demands to be set.
    return np.where(value > 0, np.minimum(value, value.dtype.type(1)), value.dtype.type(0))


def _in_register(bits: Array, kind: Kind) -> Array:
    """Return what fits into one register as ``uint32``, narrow values in the low bits."""
    if kind.parts:
        return np.ascontiguousarray(bits).view(np.uint32)[..., 0]
    return bits.astype(np.uint32, copy=False)


def _placed(first: int, kind: Kind, statement: Statement, sources: int) -> Callable[[Registers, Array], Array]:
    """Return what puts narrow bits into their place in the register."""
    if statement.encoding == "sdwa":
        return _selected(first, statement)
    if kind.bits == 16 and not kind.parts:
        high = bool(statement.bits("op_sel", 4)[sources]) and kind.name != "mix"
        if high or kind.keeps:
            shift, kept = np.uint32(16 if high else 0), np.uint32(0xFFFF if high else 0xFFFF_0000)
            return lambda group, bits: (group.vector(first) & kept) | (bits << shift)
    return lambda group, bits: bits


def _selected(first: int, statement: Statement) -> Callable[[Registers, Array], Array]:
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


def write_mask(move: LaneMove | None, group: Registers) -> Array | None:
    """Return the lanes that a moved source lets an instruction write, or None for those of EXEC."""
    if move is None or (move.zero_fill and not move.selective):
        return None
    return move.mask(group.exec)
