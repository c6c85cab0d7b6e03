"""Numbers in the text as the bits that an operand of some kind gets.

From the ISA guides ("Scalar and vector operands: inline constants, literal constants"): integers -16 to 64 and a few
floats are inline and take the operand's own width; any other number is a literal of 32 bits: of a float64
the high half.

A pair of 32-bit numbers gets the constant in both: LLVM counts on that where it folds a constant into ``v_pk_fma_f32``,
and AMD's own emulator (``rocjitsu``, of ROCm) does so, too. Pairs of 16 bits have it in the low half alone.
"""

from __future__ import annotations

import struct

from kernelarena.platforms.emulator.instructions.kinds import Kind

_SMALLEST, _GREATEST = -16, 64
_WHOLE = {1: 0xFFFF_FFFF, 2: 0xFFFF_FFFF_FFFF_FFFF}


def constant_bits(value: int | float, kind: Kind) -> int:
    """Return the bits, of as many registers as the kind has."""
    if kind.parts == kind.registers == 2:
        return _number_bits(value, kind, _WHOLE[1]) * 0x1_0000_0001
    return _number_bits(value, kind, _WHOLE[kind.registers])


def _number_bits(value: int | float, kind: Kind, whole: int) -> int:
    if not isinstance(value, int):
        return int.from_bytes(struct.pack(_format(kind), value), "little")
    literal = not _SMALLEST <= value <= _GREATEST
    if literal and kind.name == "f64":
        return (value << 32) & whole
    return value & (0xFFFF if kind.bits == 16 and not kind.parts else whole)


def _format(kind: Kind) -> str:
    if kind.bits == 16:
        return "<e"
    return "<d" if kind.bits == 64 else "<f"
