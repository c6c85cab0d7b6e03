"""Minimum, maximum and median of floating-point numbers.

A number beats a NaN, as IEEE 754-2008's ``minNum`` has it, and a signalling NaN, in the mode that programs that compute
run in (``.amdhsa_ieee_mode 1``), wins as a quiet one. Negative zero is less than positive zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array, bits, is_signalling
from kernelarena.platforms.emulator.instructions.registry import vector


def minimum(a: Array, b: Array) -> Array:
    """Return the lesser."""
    return _settled(a, b, np.where(a == b, (bits(a) | bits(b)).view(a.dtype), np.where(a < b, a, b)))


def maximum(a: Array, b: Array) -> Array:
    """Return the greater."""
    return _settled(a, b, np.where(a == b, (bits(a) & bits(b)).view(a.dtype), np.where(a > b, a, b)))


def _settled(a: Array, b: Array, result: Array) -> Array:
    """Put right what comparing makes of NaNs, which is the second operand."""
    unordered = np.isnan(b)
    if not unordered.any() and not np.isnan(a).any():
        return result
    result = np.where(unordered, a, result)
    for operand in (b, a):
        result = np.where(is_signalling(operand), operand + operand, result)
    return result


def median(a: Array, b: Array, c: Array) -> Array:
    """Return the middle one; the least, where there is a NaN."""
    greatest = maximum(maximum(a, b), c)
    middle = np.where(greatest == a, maximum(b, c), np.where(greatest == b, maximum(a, c), maximum(a, b)))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), minimum(minimum(a, b), c), middle)


def _strict(extreme: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    """Have NaNs win, as in IEEE 754-2019's ``minimum`` and ``maximum``."""

    def of_three(a: Array, b: Array, c: Array) -> Array:
        return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), a + b + c, extreme(extreme(a, b), c))

    return of_three


def _thrice(extreme: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: extreme(extreme(a, b), c)


def _median_of_integers(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


for _kind in ("f16", "f32", "f64"):
    vector(f"v_min_{_kind}", f"{_kind} {_kind} -> {_kind}")(minimum)
    vector(f"v_max_{_kind}", f"{_kind} {_kind} -> {_kind}")(maximum)
vector("v_pk_min_f16", "v2f16 v2f16 -> v2f16")(minimum)
vector("v_pk_max_f16", "v2f16 v2f16 -> v2f16")(maximum)
for _kind in ("f16", "f32", "i16", "u16", "i32", "u32"):
    _floating = _kind[0] == "f"
    _signature = f"{_kind} {_kind} {_kind} -> {_kind}"
    vector(f"v_min3_{_kind}", _signature)(_thrice(minimum if _floating else np.minimum))
    vector(f"v_max3_{_kind}", _signature)(_thrice(maximum if _floating else np.maximum))
    vector(f"v_med3_{_kind}", _signature)(median if _floating else _median_of_integers)
for _name, _extreme in (("minimum", minimum), ("maximum", maximum)):
    vector(f"v_{_name}3_f32", "f32 f32 f32 -> f32", targets=("gfx950",))(_strict(_extreme))
    vector(f"v_pk_{_name}3_f16", "v2f16 v2f16 v2f16 -> v2f16", targets=("gfx950",))(_strict(_extreme))
