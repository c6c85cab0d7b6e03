"""Fused multiply-add, rounded once, without a processor's help.

Sums are rounded *to odd* in float64 first: a result that is not exact gets an odd last bit, which records on which side
of any shorter number it lies, so that rounding it again to a format at least two bits shorter errs nowhere (Boldo and
Melquiond, *Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd*, IEEE Transactions on
Computers 57(4), 2008).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array

_LEAST32 = float(np.finfo(np.float32).smallest_normal)
_BELOW = np.uint64((1 << 29) - 1)
_HALF = np.uint64(1 << 28)
"""The bits of a float64 that a normal float32 has no room for, and what they are half-way between two of those."""
_SPLIT = float((1 << 27) + 1)
_ROOM = 400
"""Of the exponents within which no step of a float64's product or sum over- or underflows, and errors stay exact."""


def fma(a: Array, b: Array, c: Array) -> Array:
    """Return ``a * b + c``, rounded once, in the dtype of the operands: float16, float32 or float64."""
    if a.dtype == np.float64:
        return _fma64(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)  # exact: at most 48 bits
    wide = c.astype(np.float64)
    if a.dtype == np.float16:
        return _to_odd(product, wide).astype(np.float16)
    total = product + wide
    near = (total.view(np.uint64) & _BELOW) == _HALF
    if not (near | ((np.abs(total) < _LEAST32) & (total != 0))).any():  # then rounding twice has done no harm
        return total.astype(np.float32)
    return _to_odd(product, wide).astype(np.float32)


def scaled_fma(a: Array, b: Array, c: Array, power: Array) -> Array:
    """Return ``(a * b + c) * 2**power``, rounded once: float32 or float64."""
    a, b, c, power = np.broadcast_arrays(a, b, c, power)
    if a.dtype == np.float32:
        wide = [x.astype(np.float64) for x in (a, b, c)]
        return np.ldexp(_to_odd(wide[0] * wide[1], wide[2]), power).astype(np.float32)
    result = fma(a, b, c)
    some = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (power != 0)
    result[some] = [_exact64(*operands) for operands in zip(a[some], b[some], c[some], power[some], strict=True)]
    return result


def _to_odd(x: Array, y: Array) -> Array:
    total, error = _two_sum(x, y)
    words = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(error) & ((words & 1) == 0)
    outwards = (error > 0) == (total > 0)
    return (words + np.where(inexact, np.where(outwards, 1, -1), 0)).view(np.float64)


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the rounded sum and what rounding took away (Knuth)."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the rounded product and what rounding took away (Dekker, by Veltkamp's splitting)."""
    product = x * y
    high_x, low_x = _halves(x)
    high_y, low_y = _halves(y)
    return product, ((high_x * high_y - product) + high_x * low_y + low_x * high_y) + low_x * low_y


def _halves(x: Array) -> tuple[Array, Array]:
    large = _SPLIT * x
    high = large - (large - x)
    return high, x - high


def _fma64(a: Array, b: Array, c: Array) -> Array:
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _two_product(a, b)
    upper, lower = _two_sum(c, low)
    total, rest = _two_sum(high, upper)
    result = np.asarray(total + _to_odd(lower, rest))
    simple = _has_room(a) & _has_room(b) & _has_room(c)
    finite = np.isfinite(a) & np.isfinite(b)
    plain = ~(finite & np.isfinite(c)) | (a == 0) | (b == 0)  # nothing to be rounded
    result = np.where(plain, np.where(finite & ~np.isfinite(c), c, a * b + c), result)
    hard = ~(simple | plain)
    if hard.any():
        result[hard] = [_exact64(*operands) for operands in zip(a[hard], b[hard], c[hard], strict=True)]
    return result


def _has_room(x: Array) -> Array:
    return (np.abs(x) < 2.0**_ROOM) & ((np.abs(x) > 2.0**-_ROOM) | (x == 0))


def _exact64(a: Any, b: Any, c: Any, power: Any = 0) -> float:
    exact = (Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))) * Fraction(2) ** int(power)
    if exact == 0:
        return float(a * b + c)  # nothing is rounded, and the sign is as it should be
    try:
        return float(exact)  # rounds to nearest even, into the denormals too
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
