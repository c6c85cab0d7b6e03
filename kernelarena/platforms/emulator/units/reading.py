"""Sources: from an operand in the text to an array in the dtype that a function wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Operand, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import SCC, VECTOR
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.floats.parts import flushed
from kernelarena.platforms.emulator.instructions.kinds import Kind
from kernelarena.platforms.emulator.lanes import Array, unpacked
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.shadow import ShadowView
from kernelarena.platforms.emulator.units.constants import constant_bits
from kernelarena.platforms.emulator.units.dpp import LaneMove

Reader = Callable[[Registers], Array]
"""Takes a group, or a view of its undefined bits."""

SELECTIONS = {
    "BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8), "WORD_0": (0, 16), "WORD_1": (16, 16),
}  # fmt: skip
"""Selections of sub-dword addressing: the first bit, and how many."""


@dataclass(frozen=True)
class Source:
    """An operand in its position.

    Attributes
    ----------
    operand
        What the text says.
    kind
        What the function wants.
    position
        Among the sources that the text names, from 0.
    """

    operand: Operand
    kind: Kind
    position: int


@dataclass(frozen=True)
class Reading:
    """How a source is read.

    Attributes
    ----------
    value
        In the dtype of its kind.
    bits
        As unsigned integers of its width, before modifiers of sign: what the value's bits are taken from.
    """

    value: Reader
    bits: Reader


def vector_reader(source: Source, statement: Statement, move: LaneMove | None, flushes: bool) -> Reading:
    """Return what reads a source of a vector instruction, broadcastable to ``[waves, 64]`` (and the kind's parts).

    Raises
    ------
    Unsupported
        For an operand, or a modifier of it, that is not modelled.
    """
    operand, kind = source.operand, source.kind
    if kind.name in ("mask", "vcc"):
        mask = mask_reader(operand, statement)
        return Reading(mask, mask)
    read = raw_reader(operand, kind, statement)
    if move is not None and source.position == 0:
        read = _moved(read, move)
    if kind.name == "mix":
        return Reading(_mixed(source, statement, read), read)
    if statement.encoding == "sdwa":
        read = _selected(source, statement, read)
    elif kind.bits == 16 and not kind.parts and source.position >= 0 and statement.bits("op_sel", 4)[source.position]:
        read = _shifted_down(read)
    return _shown(source, statement, read, flushes)


def mask_reader(operand: Operand, statement: Statement) -> Reader:
    """Return what reads lanes' booleans from a pair of scalar registers, or from a constant."""
    value = operand.value
    if isinstance(value, Register) and value.scalar:
        first = value.first
        return lambda group: unpacked(group.pair(first))
    if isinstance(value, Constant) and isinstance(value.value, int):
        bits = unpacked(np.array([value.value & 0xFFFF_FFFF_FFFF_FFFF], np.uint64))
        defined = np.zeros_like(bits)
        return lambda group: defined if isinstance(group, ShadowView) else bits
    raise Unsupported(statement.text)


def raw_reader(operand: Operand, kind: Kind, statement: Statement) -> Reader:
    """Return what reads an operand's bits: ``uint32`` or ``uint64``, ``[waves or 1, 64 or 1]``."""
    value = operand.value
    if isinstance(value, Constant):
        dtype = np.uint64 if kind.registers == 2 else np.uint32
        bits = np.array([[constant_bits(value.value, kind)]], dtype)
        defined = np.zeros_like(bits)
        return lambda group: defined if isinstance(group, ShadowView) else bits
    if not isinstance(value, Register):
        raise Unsupported(statement.text)
    first = value.first
    if first == SCC:
        raise Unsupported(statement.text)
    if kind.registers == 1:
        if first >= VECTOR:
            return lambda group: group.vector(first)
        return lambda group: group.scalar(first)[:, None]
    if first >= VECTOR:
        return lambda group: joined(group.vector(first), group.vector(first + 1))
    return lambda group: group.pair(first)[:, None]


def joined(low: Array, high: Array) -> Array:
    """Return two registers as ``uint64``."""
    both = np.empty((*low.shape, 2), np.uint32)
    both[..., 0] = low
    both[..., 1] = high
    return both.view(np.uint64)[..., 0]


def _moved(read: Reader, move: LaneMove) -> Reader:
    return lambda group: move.moved(_spread(read(group)), group.exec, group.full)


def _spread(bits: Array) -> Array:
    return bits if bits.shape[-1] == 64 else np.broadcast_to(bits, (bits.shape[0], 64))


def _selected(source: Source, statement: Statement, read: Reader) -> Reader:
    selection = statement.modifiers.get(f"src{source.position}_sel", "DWORD")
    if selection == "DWORD":
        return read
    first, width = SELECTIONS[str(selection)]
    mask = np.uint32((1 << width) - 1)
    if not source.operand.signed:
        return lambda group: (read(group) >> np.uint32(first)) & mask
    left, right = np.uint32(32 - width - first), np.int32(32 - width)
    return lambda group: ((read(group) << left).view(np.int32) >> right).view(np.uint32)


def _shifted_down(read: Reader) -> Reader:
    return lambda group: read(group) >> np.uint32(16)


def _mixed(source: Source, statement: Statement, read: Reader) -> Reader:
    """Read ``v_fma_mix``'s source: op_sel_hi says whether it is a half, op_sel which."""
    negated = source.operand.negated or bool(statement.bits("neg_lo", 3)[source.position])
    absolute = source.operand.absolute or bool(statement.bits("neg_hi", 3)[source.position])
    half = statement.bits("op_sel_hi", 3)[source.position]
    high = statement.bits("op_sel", 3)[source.position]
    value = source.operand.value
    if half and isinstance(value, Constant) and isinstance(value.value, float):
        constant = np.array([[value.value]], np.float16).astype(np.float32)
        return lambda group: _signed(constant, absolute, negated)
    shift = np.uint32(16 if high else 0)

    def mixed(group: Registers) -> Array:
        bits = read(group)
        wide = (bits >> shift).astype(np.uint16).view(np.float16).astype(np.float32) if half else bits.view(np.float32)
        return _signed(wide, absolute, negated)

    return mixed


def _signed(value: Array, absolute: bool, negated: bool) -> Array:
    if absolute:
        value = np.abs(value)
    return np.negative(value) if negated else value


def _shown(source: Source, statement: Statement, read: Reader, flushes: bool) -> Reading:
    """Read bits, apply the modifiers of sign, and show them in the kind's dtype."""
    kind = source.kind
    clear, flip = _sign_bits(source, statement)
    changed = clear or any(flip)
    if changed and not kind.sign:
        raise Unsupported(statement.text)
    split = _packed_view(source, statement) if kind.parts else _plain_view(kind)
    dtype = kind.dtype

    def bits(group: Registers) -> Array:
        return split(read(group))

    value: Reader = lambda group: split(read(group)).view(dtype)  # noqa: E731
    if changed:
        value = _with_signs(bits, kind, clear, flip)
    if flushes and kind.flushes:
        return Reading(lambda group: flushed(value(group)), bits)
    return Reading(value, bits)


def _with_signs(bits: Reader, kind: Kind, clear: bool, flip: list[bool]) -> Reader:
    word, dtype = np.dtype(f"u{kind.dtype.itemsize}").type, kind.dtype
    keep = word(~(kind.sign if clear else 0) & ((1 << kind.bits) - 1))
    flips = np.array([kind.sign if one else 0 for one in flip], word)
    toggle = flips if kind.parts else flips[0]
    return lambda group: ((bits(group) & keep) ^ toggle).view(dtype)


def _sign_bits(source: Source, statement: Statement) -> tuple[bool, list[bool]]:
    operand, position = source.operand, source.position
    if not source.kind.parts or position < 0:
        return operand.absolute, [operand.negated]
    low, high = statement.bits("neg_lo", 3)[position], statement.bits("neg_hi", 3)[position]
    return operand.absolute, [operand.negated ^ bool(low), operand.negated ^ bool(high)][: source.kind.parts]


def _plain_view(kind: Kind) -> Callable[[Array], Array]:
    return (lambda bits: bits.astype(np.uint16)) if kind.bits == 16 else (lambda bits: bits)


def _packed_view(source: Source, statement: Statement) -> Callable[[Array], Array]:
    """Return what splits registers into parts, in the order that op_sel and op_sel_hi ask for."""
    kind, position = source.kind, source.position
    order = [statement.bits("op_sel", 3)[position], statement.bits("op_sel_hi", 3, 1)[position]]
    dtype, parts = np.dtype(f"u{kind.dtype.itemsize}"), kind.parts

    def split(bits: Array) -> Array:
        return np.ascontiguousarray(bits)[..., None].view(dtype).reshape(*bits.shape, parts)

    if parts != 2 or order == [0, 1]:
        return split
    return lambda bits: split(bits)[..., order]
