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


_WIDEN: dict[str, Convert] = {"f16": lambda x: x, "bf16": from_bf16}
_ROUND: dict[str, Convert] = {
    "f32": lambda x: x.astype(np.float32),
    "f16": lambda x: x.astype(np.float16),
    "bf16": lambda x: to_bf16(x.astype(np.float32)),
}


def _byte(word: Array, op_sel: tuple[int, ...]) -> Array:
    return (word >> np.uint32(8 * (op_sel[0] + 2 * op_sel[1]))) & np.uint32(255)


def _placed(codes: Array, before: Array, op_sel: tuple[int, ...]) -> Array:
    """Write one byte of a register and keep the others."""
    shift = np.uint32(8 * (op_sel[2] + 2 * op_sel[3]))
    return before & ~(np.uint32(255) << shift) | codes.astype(np.uint32) << shift


def _reading(form: Narrow, round_: Convert) -> Callable[[Array, Array], Array]:
    """Return a function that reads the two numbers in the low bits."""

    def read(codes: Array, scale: Array) -> Array:
        both = np.stack([decode(codes, form), decode(codes >> codes.dtype.type(form.width), form)], axis=-1)
        return round_(np.ldexp(both.astype(np.float64), _power(scale)[..., None]))

    return read


def _making(form: Narrow) -> Callable[..., Array]:
    """Return a function that makes the codes of two numbers, side by side."""

    def make(low: Array, high: Array, scale: Array, *, saturates: bool = False) -> Array:
        down = -_power(scale)
        scaled = (np.ldexp(x.astype(np.float64), down) for x in (low, high))
        parts = [encode(x, form, saturates=saturates).astype(np.uint16) for x in scaled]
        return parts[0] | parts[1] << np.uint16(form.width)

    return make


def _making_of_halves(form: Narrow, widen: Convert) -> Callable[..., Array]:
    make = _making(form)

    def make_of_halves(both: Array, scale: Array, *, saturates: bool = False) -> Array:
        numbers = widen(both)
        return make(numbers[..., 0], numbers[..., 1], scale, saturates=saturates)

    return make_of_halves


def _reading_one(form: Narrow) -> Callable[[Array, Array, tuple[int, ...]], Array]:
    return lambda word, scale, op_sel: np.ldexp(decode(_byte(word, op_sel), form), _power(scale))


for _name, _form in (("fp8", FP8), ("bf8", BF8)):
    for _wide, _round in _ROUND.items():
        _signature = f"u16 f32 -> v2{_wide}"
        vector(f"v_cvt_scalef32_pk_{_wide}_{_name}", _signature, targets=_TARGETS)(_reading(_form, _round))
    for _wide, _widen in _WIDEN.items():
        _making_these = _making_of_halves(_form, _widen)
        vector(f"v_cvt_scalef32_pk_{_name}_{_wide}", f"v2{_wide} f32 -> u16lo", targets=_TARGETS)(_making_these)
    vector(f"v_cvt_scalef32_pk_{_name}_f32", "f32 f32 f32 -> u16lo", targets=_TARGETS)(_making(_form))
    vector(f"v_cvt_scalef32_f32_{_name}", "u32 f32 op_sel -> f32", targets=_TARGETS)(_reading_one(_form))


def _reading_fp4(round_: Convert) -> Callable[[Array, Array, tuple[int, ...]], Array]:
    read = _reading(FP4, round_)
    return lambda word, scale, op_sel: read(_byte(word, op_sel), scale)


def _making_fp4(widen: Convert) -> Callable[[Array, Array, Array, tuple[int, ...]], Array]:
    make = _making_of_halves(FP4, widen)
    return lambda both, scale, before, op_sel: _placed(make(both, scale), before, op_sel)


for _wide, _round in _ROUND.items():
    vector(f"v_cvt_scalef32_pk_{_wide}_fp4", f"u32 f32 op_sel -> v2{_wide}", targets=_TARGETS)(_reading_fp4(_round))
for _wide, _widen in _WIDEN.items():
    _signature = f"v2{_wide} f32 dst op_sel -> b32"
    vector(f"v_cvt_scalef32_pk_fp4_{_wide}", _signature, targets=_TARGETS)(_making_fp4(_widen))


@vector("v_cvt_scalef32_pk_fp4_f32", "f32 f32 f32 dst op_sel -> b32", targets=_TARGETS)
def make_fp4(low: Array, high: Array, scale: Array, before: Array, op_sel: tuple[int, ...]) -> Array:
    """Put two numbers into one byte."""
    return _placed(_making(FP4)(low, high, scale), before, op_sel)
