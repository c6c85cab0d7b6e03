"""Conversions between 8- and 4-bit numbers that share a scale, and wider ones.

The scale is a power of two: that of a float32, whose fraction and sign do not count. To narrow formats numbers are
divided by it, from them they are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.narrow import BF8, FP4, FP8, Narrow, decode, encode, from_bf16, to_bf16
from kernelarena.platforms.emulator.floats.parts import Array, exponent
from kernelarena.platforms.emulator.instructions.registry import vector

Convert = Callable[[Array], Array]

_TARGETS = ("gfx950",)


def _power(scale: Array) -> Array:
    return exponent(scale) - 127


def _same(x: Array) -> Array:
    return x


_WIDEN: dict[str, Convert] = {"f32": _same, "f16": _same, "bf16": from_bf16}
_ROUND: dict[str, Convert] = {
    "f32": lambda x: x.astype(np.float32),
    "f16": lambda x: x.astype(np.float16),
    "bf16": lambda x: to_bf16(x.astype(np.float32)),
}


def _pair(codes: Array, form: Narrow, scale: Array, round_: Convert) -> Array:
    """Read the two numbers in the low bits."""
    both = np.stack([decode(codes, form), decode(codes >> codes.dtype.type(form.width), form)], axis=-1)
    return round_(np.ldexp(both.astype(np.float64), _power(scale)[..., None]))


def _codes(low: Array, high: Array, form: Narrow, scale: Array) -> Array:
    down = -_power(scale)
    parts = [encode(np.ldexp(x.astype(np.float64), down), form).astype(np.uint16) for x in (low, high)]
    return parts[0] | parts[1] << np.uint16(form.width)


def _byte(word: Array, number: int) -> Array:
    return (word >> np.uint32(8 * number)) & np.uint32(255)


def _enter_eight_bits(name: str, form: Narrow) -> None:
    for wide, round_ in _ROUND.items():

        def unpack(codes: Array, scale: Array, round_: Convert = round_) -> Array:
            return _pair(codes, form, scale, round_)

        vector(f"v_cvt_scalef32_pk_{wide}_{name}", f"u16 f32 -> v2{wide}", targets=_TARGETS)(unpack)

    @vector(f"v_cvt_scalef32_f32_{name}", "u32 f32 op_sel -> f32", targets=_TARGETS)
    def one(word: Array, scale: Array, op_sel: tuple[int, ...]) -> Array:
        codes = _byte(word, op_sel[0] + 2 * op_sel[1])
        return np.ldexp(decode(codes, form).astype(np.float64), _power(scale)).astype(np.float32)

    @vector(f"v_cvt_scalef32_pk_{name}_f32", "f32 f32 f32 -> u16lo", targets=_TARGETS)
    def pack(low: Array, high: Array, scale: Array) -> Array:
        return _codes(low, high, form, scale)

    for wide in ("f16", "bf16"):

        def pack_halves(both: Array, scale: Array, widen: Convert = _WIDEN[wide]) -> Array:
            numbers = widen(both)
            return _codes(numbers[..., 0], numbers[..., 1], form, scale)

        vector(f"v_cvt_scalef32_pk_{name}_{wide}", f"v2{wide} f32 -> u16lo", targets=_TARGETS)(pack_halves)


_enter_eight_bits("fp8", FP8)
_enter_eight_bits("bf8", BF8)


def _placed(codes: Array, before: Array, op_sel: tuple[int, ...]) -> Array:
    """Write one byte of a register and keep the others."""
    shift = np.uint32(8 * (op_sel[2] + 2 * op_sel[3]))
    return before & ~(np.uint32(255) << shift) | codes.astype(np.uint32) << shift


for _wide in ("f32", "f16", "bf16"):

    def _unpack(word: Array, scale: Array, op_sel: tuple[int, ...], round_: Convert = _ROUND[_wide]) -> Array:
        return _pair(_byte(word, op_sel[0] + 2 * op_sel[1]), FP4, scale, round_)

    vector(f"v_cvt_scalef32_pk_{_wide}_fp4", f"u32 f32 op_sel -> v2{_wide}", targets=_TARGETS)(_unpack)


@vector("v_cvt_scalef32_pk_fp4_f32", "f32 f32 f32 dst op_sel -> b32", targets=_TARGETS)
def pack_fp4(low: Array, high: Array, scale: Array, before: Array, op_sel: tuple[int, ...]) -> Array:
    """Put two numbers into one byte."""
    return _placed(_codes(low, high, FP4, scale), before, op_sel)


for _wide in ("f16", "bf16"):

    def _pack(
        both: Array, scale: Array, before: Array, op_sel: tuple[int, ...], widen: Convert = _WIDEN[_wide]
    ) -> Array:
        numbers = widen(both)
        return _placed(_codes(numbers[..., 0], numbers[..., 1], FP4, scale), before, op_sel)

    vector(f"v_cvt_scalef32_pk_fp4_{_wide}", f"v2{_wide} f32 dst op_sel -> b32", targets=_TARGETS)(_pack)
