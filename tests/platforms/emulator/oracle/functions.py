"""The functions that the pseudo-code calls by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from tests.platforms.emulator.oracle.numbers import (
    EXPONENT_AND_FRACTION,
    Bits,
    from_number,
    fused,
    integer,
    nan,
    rounded,
    times_power,
    truth,
    widened,
)

PI = from_number(math.pi, "f64")
_EIGHT_BITS = {
    ("fp8", "gfx942"): torch.float8_e4m3fnuz,
    ("bf8", "gfx942"): torch.float8_e5m2fnuz,
    ("fp8", "gfx950"): torch.float8_e4m3fn,
    ("bf8", "gfx950"): torch.float8_e5m2,
}


_FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _eight(name: str) -> Callable[[int, str], float]:
    def read(code: int, target: str) -> float:
        codes = torch.tensor([code], dtype=torch.uint8).view(_EIGHT_BITS[name, target])
        return float(codes.to(torch.float32)[0])

    return read


_NARROW: dict[str, Callable[[int, str], float]] = {
    "fp8": _eight("fp8"),
    "bf8": _eight("bf8"),
    "fp4": lambda code, _: math.copysign(_FP4[code & 7], -1 if code & 8 else 1),
}


def _to_eight(number: float, name: str, target: str) -> int:
    size = math.fabs(number)
    exact = torch.tensor([number], dtype=torch.float64)
    code = int(exact.to(_EIGHT_BITS[name, target]).view(torch.uint8)[0])
    if name == "fp8" and target == "gfx950" and size > 464:  # torch stops at the largest, units do not
        code |= 0x7F
    return code


def _to_fp4(number: float) -> int:
    sign = 8 if math.copysign(1, number) < 0 else 0
    if not math.isfinite(number):
        return sign | 7 if math.isinf(number) else 7
    return sign | min(range(8), key=lambda code: (_away(number, code), code & 1))


def _away(number: float, code: int) -> Fraction:
    """Return how far a number is from a code's."""
    away = Fraction(math.fabs(number)) - Fraction(_FP4[code])
    return max(away, -away)


@dataclass(frozen=True)
class Power:
    """A power of two, which is not rounded before it is multiplied with."""

    exponent: int


def parsed(text: str, name: str) -> Bits:
    return rounded(Fraction(text), name)


def convert(value: Bits, source: str, result: str, target: str, *, towards_zero: bool, power: int = 0) -> Bits:
    """Convert by what ``f32_to_i32`` and the like say: integers saturate, and NaN becomes 0.

    ``power`` is that of a scale, which narrow formats are multiplied by and others divided by.
    """
    if source in _NARROW:
        number = _NARROW[source](value.bits, target)
        return from_number(math.ldexp(number, power) if math.isfinite(number) else number, result)
    if result in _NARROW:
        number = value.number
        wide = math.ldexp(number, -power) if math.isfinite(number) else number
        if result == "fp4":
            return Bits("b", 4, _to_fp4(wide))
        sign = 0x80 if value.nan and value.negative else 0
        return Bits("b", 8, _to_eight(wide, result, target) | sign)
    if result in EXPONENT_AND_FRACTION:
        if value.floating:
            return widened(value, result, towards_zero=towards_zero)
        return rounded(Fraction(value.integer), result)
    kind, width = result[0], int(result[1:])
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind == "i" else (0, (1 << width) - 1)
    if not value.floating:
        return integer(kind, width, min(max(value.integer, least), most))
    if value.nan:
        return integer(kind, width, 0)
    number = value.number
    return integer(kind, width, min(max(math.trunc(number) if math.isfinite(number) else number, least), most))


def _strict(a: Bits, b: Bits, sign: int) -> Bits:
    if a.nan or b.nan:
        return nan(a.name)
    ordered = sorted((a, b), key=lambda value: (value.number, not value.negative))
    return ordered[0 if sign < 0 else 1]


def v_minimum_f32(a: Bits, b: Bits) -> Bits:
    return _strict(a, b, -1)


def v_maximum_f32(a: Bits, b: Bits) -> Bits:
    return _strict(a, b, 1)


def v_minimum3_f16(a: Bits, b: Bits, c: Bits) -> Bits:
    return _strict(_strict(a, b, -1), c, -1)


def v_maximum3_f16(a: Bits, b: Bits, c: Bits) -> Bits:
    return _strict(_strict(a, b, 1), c, 1)


def fma(a: Bits, b: Bits, c: Bits) -> Bits:
    return fused(a, b, c)


def ldexp(value: Bits, power: Bits) -> Bits:
    return times_power(value, power.integer)


def _whole(value: Bits, to: Any) -> Bits:
    return value if value.special else rounded(Fraction(to(value.fraction)), value.name, negative=value.negative)


def floor(value: Bits) -> Bits:
    return _whole(value, math.floor)


def trunc(value: Bits) -> Bits:
    return _whole(value, math.trunc)


def fract(value: Bits) -> Bits:
    return rounded(value.fraction - math.floor(value.fraction), value.name) if not value.special else nan(value.name)


def sqrt(value: Bits) -> Bits:
    if value.nan or value.number == 0 or (value.infinite and not value.negative):
        return value
    if value.negative:
        return nan(value.name)
    shift = 2400  # so many bits that what is cut off is beyond any format's half-way points
    return rounded(Fraction(math.isqrt(int(value.fraction * Fraction(2) ** shift)), 1 << (shift // 2)), value.name)


def isEven(value: Bits) -> Bits:
    return truth(not value.special and int(value.fraction) % 2 == 0)


def isNAN(value: Bits) -> Bits:
    return truth(value.nan)


def isSignalNAN(value: Bits) -> Bits:
    return truth(value.signalling)


def isQuietNAN(value: Bits) -> Bits:
    return truth(value.nan and not value.signalling)


def cvtToQuietNAN(value: Bits) -> Bits:
    return nan(value.name)


def exponent(value: Bits) -> Bits:
    return integer("i", 32, value.fields[0])


def mantissa(value: Bits) -> Bits:
    return from_number(math.frexp(value.number)[0], value.name)


def sign(value: Bits) -> Bits:
    return truth(value.negative)


def abs(value: Bits) -> Bits:
    return Bits(value.kind, value.width, value.bits & ((1 << (value.width - 1)) - 1))


def signext(value: Bits) -> Bits:
    return integer("i", 64, value.integer)


def signext_from_bit(value: Bits, width: Bits) -> Bits:
    size = width.integer
    field = value.bits & ((1 << size) - 1)
    return integer("i", value.width, field - (1 << size) if size and field >> (size - 1) else field)


def bitCount(value: Bits) -> Bits:
    return integer("u", 32, value.bits.bit_count())
