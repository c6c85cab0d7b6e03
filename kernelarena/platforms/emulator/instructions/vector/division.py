"""The three steps that put a division together around its reciprocal: scale, last fused step, and special cases.

A program divides ``n / d`` by Newton's iteration, which cannot stand over- or underflow on its way. So it first scales
one of the two where need be (``v_div_scale``, which marks the lanes), iterates, undoes the scale in the last step
(``v_div_fmas``), and has ``v_div_fixup`` put in what no iteration yields: zeros, infinities and NaNs.

The guide's pseudo-code of these cannot be meant in three places, where following it would divide wrongly:

- a denominator so large that its reciprocal is denormal is scaled up by ``v_div_scale`` where the quotient is denormal
  too, out of the range; it has to be scaled down, as it is where the quotient is not;
- ``v_div_fmas`` scales by the root of what ``v_div_scale`` scales by, and always up; the exponent of the approximate
  quotient tells which scale is to be undone;
- ``v_div_fixup`` overflows where the *denominator* has the exponent of infinities, which was handled before; it is the
  approximate quotient that has it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.floats.fused import fma, scaled_fma
from kernelarena.platforms.emulator.floats.parts import FORMATS, Array, bits, exponent, is_denormal
from kernelarena.platforms.emulator.instructions.registry import vector


@dataclass(frozen=True)
class _Range:
    """What is scaled, and by how much, in one format."""

    apart: int  # exponents this far apart make a quotient near the largest number
    tiny: int  # a numerator with an exponent field up to this is scaled up, lest remainders be denormal
    power: int
    vanishes: int  # exponents further apart than this make a quotient that rounds to zero


_RANGES = {
    np.dtype(np.float16): _Range(0, 0, 0, -100),
    np.dtype(np.float32): _Range(96, 23, 64, -150),
    np.dtype(np.float64): _Range(768, 53, 128, -1075),
}


def scale(which: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
    """Return ``which``, one of the other two, scaled if it is the one to scale; and the lanes to scale back."""
    limits, form = _RANGES[which.dtype], FORMATS[which.dtype]
    above, below = exponent(numerator), exponent(denominator)
    apart = above - below
    near = (apart < limits.apart) & (apart > 2 - form.bias) & (above > limits.tiny) & (below > 0)
    if (near & (above < form.top) & (below < form.top - 2)).all():  # as it nearly always is
        return which, np.zeros(near.shape, bool)
    small_reciprocal = is_denormal(1 / denominator)
    small_quotient = is_denormal(numerator / denominator)
    up = np.int32(limits.power)
    of_denominator = np.where(which == denominator, up, np.int32(0))
    of_numerator = np.where(which == numerator, up, np.int32(0))
    power, marked = np.where(above <= limits.tiny, up, np.int32(0)), np.zeros(apart.shape, bool)
    for case, by, marks in (  # the last one that holds decides
        (small_quotient, of_numerator, True),
        (small_reciprocal, -up, False),
        (small_reciprocal & small_quotient, -of_denominator, True),
        (is_denormal(denominator), up, False),
        (apart >= limits.apart, of_denominator, True),
    ):
        power, marked = np.where(case, by, power), np.where(case, marks, marked)
    nothing = (numerator == 0) | (denominator == 0)
    return np.where(nothing, which.dtype.type(np.nan), np.ldexp(which, power)), marked & ~nothing


def last_step(a: Array, b: Array, c: Array, marked: Array) -> Array:
    """Return ``a * b + c``, scaled back in marked lanes: up where the approximate quotient ``c`` is large."""
    if not marked.any():
        return fma(a, b, c)
    limits, form = _RANGES[a.dtype], FORMATS[a.dtype]
    back = np.where(exponent(c) > form.bias, limits.power, -limits.power)
    return scaled_fma(a, b, c, np.where(marked, back, 0))


def fix_up(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """Return the quotient, or what the operands alone decide."""
    form, number = FORMATS[quotient.dtype], quotient.dtype.type
    above, below = exponent(numerator), exponent(denominator)
    vanishes = above - below < _RANGES[quotient.dtype].vanishes
    size = np.abs(quotient)
    usual = (above > 0) & (above < form.top) & (below > 0) & (below < form.top) & ~vanishes & (size == size)
    sign = (bits(denominator) ^ bits(numerator)) & form.sign
    if usual.all():
        return (bits(size) | sign).view(number)
    over, under = np.isinf(numerator) | (denominator == 0), np.isinf(denominator) | (numerator == 0)
    if number is not np.float16:  # of which quotients are made in float32
        size = np.where(np.isnan(size), number(np.inf), size)
    size = np.where(over, number(np.inf), np.where(under | vanishes, number(0), size))
    signed = np.where(over & under, number(np.nan), (bits(size) | sign).view(number))
    for operand in (denominator, numerator):
        signed = np.where(np.isnan(operand), operand + operand, signed)
    return signed


for _kind in ("f32", "f64"):
    vector(f"v_div_scale_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind} mask")(scale)
    vector(f"v_div_fmas_{_kind}", f"{_kind} {_kind} {_kind} vcc -> {_kind}")(last_step)
for _kind in ("f16", "f32", "f64"):
    vector(f"v_div_fixup_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(fix_up)
vector("v_div_fixup_legacy_f16", "f16 f16 f16 -> f16")(fix_up)
