"""The digits of 2/pi that reducing a large angle to a quadrant takes."""

from __future__ import annotations

from functools import cache

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array, exponent
from kernelarena.platforms.emulator.instructions.registry import vector

_STORED = 1201
_SEGMENT = 53


@cache
def _two_over_pi() -> int:
    """Return the bits of 2/pi that the unit has, as a whole number (by Machin's formula for pi)."""
    guard = _STORED + 64

    def inverse_tangent(of: int) -> int:
        term, total, place = (1 << guard) // of, 0, 1
        while term:
            total += term // place if place % 4 == 1 else -(term // place)
            term, place = term // (of * of), place + 2
        return total

    pi = 4 * (4 * inverse_tangent(5) - inverse_tangent(239))
    return (1 << (guard + 1 + _STORED)) // pi


@cache
def _segment(shift: int) -> float:
    """Return the 53 bits below ``2**-shift``, in their place; what is beyond the stored bits is zero."""
    return float(_two_over_pi() << shift >> (_STORED - _SEGMENT) & ((1 << _SEGMENT) - 1))


@vector("v_trig_preop_f64", "f64 u32 -> f64")
def segment(angle: Array, number: Array) -> Array:
    """Return one segment of 2/pi, from the first that an angle's size leaves in play."""
    size = exponent(angle)
    shift = (number & np.uint32(31)).astype(np.int32) * _SEGMENT + np.maximum(size - 1077, 0)
    kinds, place = np.unique(shift, return_inverse=True)
    digits = np.array([_segment(int(kind)) for kind in kinds])[place.reshape(shift.shape)]
    scale = np.where(size >= 1968, 128 - _SEGMENT, -_SEGMENT) - shift  # lest the digits be denormal
    return np.ldexp(digits, scale)
