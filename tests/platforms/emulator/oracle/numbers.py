"""Bits with a type, as the pseudo-code has them, and arithmetic on them that is exact before it rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

EXPONENT_AND_FRACTION = {"f16": (5, 10), "f32": (8, 23), "f64": (11, 52), "bf16": (8, 7)}


@dataclass(frozen=True)
class Bits:
    """A value: ``kind`` is ``u``, ``i``, ``b`` (of no type), ``f`` or ``bf``."""

    kind: str
    width: int
    bits: int

    @property
    def name(self) -> str:
        return f"{self.kind}{self.width}"

    @property
    def floating(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def integer(self) -> int:
        """The whole number that the bits stand for."""
        return self.bits - (1 << self.width) if self.kind == "i" and self.bits >> (self.width - 1) else self.bits

    @property
    def negative(self) -> bool:
        return bool(self.bits >> (self.width - 1))

    @property
    def fields(self) -> tuple[int, int]:
        """The exponent field and the fraction."""
        wide, fraction = EXPONENT_AND_FRACTION[self.name]
        return (self.bits >> fraction) & ((1 << wide) - 1), self.bits & ((1 << fraction) - 1)

    @property
    def special(self) -> bool:
        return self.fields[0] == (1 << EXPONENT_AND_FRACTION[self.name][0]) - 1

    @property
    def nan(self) -> bool:
        return self.special and self.fields[1] != 0

    @property
    def signalling(self) -> bool:
        return self.nan and not self.fields[1] >> (EXPONENT_AND_FRACTION[self.name][1] - 1)

    @property
    def infinite(self) -> bool:
        return self.special and self.fields[1] == 0

    @property
    def denormal(self) -> bool:
        return self.fields[0] == 0 and self.fields[1] != 0

    @property
    def fraction(self) -> Fraction:
        """The exact value of a finite number."""
        wide, digits = EXPONENT_AND_FRACTION[self.name]
        field, low = self.fields
        whole = low + (1 << digits if field else 0)
        size = Fraction(whole) * Fraction(2) ** (max(field, 1) - (1 << (wide - 1)) + 1 - digits)
        return -size if self.negative else size

    @property
    def number(self) -> float:
        """The value as a Python float, which holds each of these exactly."""
        if self.nan:
            return math.nan
        return math.copysign(math.inf if self.infinite else float(self.fraction), -1 if self.negative else 1)


def integer(kind: str, width: int, value: int) -> Bits:
    return Bits(kind, width, value & ((1 << width) - 1))


def truth(value: bool) -> Bits:
    return Bits("u", 1, int(value))


def nan(name: str, signalling: bool = False) -> Bits:
    wide, digits = EXPONENT_AND_FRACTION[name]
    return _float(name, ((1 << wide) - 1) << digits | 1 << (digits - (2 if signalling else 1)))


def infinity(name: str, negative: bool = False) -> Bits:
    wide, digits = EXPONENT_AND_FRACTION[name]
    return _float(name, int(negative) << (wide + digits) | ((1 << wide) - 1) << digits)


def _float(name: str, bits: int) -> Bits:
    kind = name.rstrip("0123456789")
    return Bits(kind, int(name[len(kind) :]), bits)


def rounded(value: Fraction, name: str, *, negative: bool = False, towards_zero: bool = False) -> Bits:
    """Return the nearest number of a format, ties to even; ``negative`` is the sign of a zero."""
    wide, digits = EXPONENT_AND_FRACTION[name]
    bias = (1 << (wide - 1)) - 1
    sign = int(value < 0 or (value == 0 and negative)) << (wide + digits)
    if value == 0:
        return _float(name, sign)
    size = abs(value)
    power = size.numerator.bit_length() - size.denominator.bit_length()
    power = max(power - (size < Fraction(2) ** power), 1 - bias)
    steps = size / Fraction(2) ** (power - digits)
    count = math.floor(steps) if towards_zero else round(steps)
    if count >> (digits + 1):
        count, power = count >> 1, power + 1
    field = power + bias if count >> digits else 0
    if field >= (1 << wide) - 1:
        if towards_zero:
            return _float(name, sign | (((1 << wide) - 1) << digits) - 1)
        return infinity(name, bool(sign))
    return _float(name, sign | field << digits | (count & ((1 << digits) - 1)))


def from_number(value: float, name: str, *, towards_zero: bool = False) -> Bits:
    """Round a Python float, which may be special, to a format."""
    if math.isnan(value):
        return nan(name)
    if math.isinf(value):
        return infinity(name, value < 0)
    return rounded(Fraction(value), name, negative=math.copysign(1, value) < 0, towards_zero=towards_zero)


def widened(value: Bits, name: str, *, towards_zero: bool = False) -> Bits:
    """Convert between formats; a signalling NaN stays one."""
    if value.nan:
        return nan(name, value.signalling)
    return from_number(value.number, name, towards_zero=towards_zero)


def add(a: Bits, b: Bits, *, minus: bool = False) -> Bits:
    right = -b.number if minus else b.number
    if a.special or b.special:
        return from_number(a.number + right, a.name)
    total = a.fraction + (-b.fraction if minus else b.fraction)
    return rounded(total, a.name, negative=math.copysign(1, a.number) < 0 and math.copysign(1, right) < 0)


def multiply(a: Bits, b: Bits) -> Bits:
    if a.special or b.special:
        return from_number(a.number * b.number, a.name)
    return rounded(a.fraction * b.fraction, a.name, negative=a.negative != b.negative)


def divide(a: Bits, b: Bits) -> Bits:
    if a.nan or b.nan or (a.infinite and b.infinite) or (a.number == 0 and b.number == 0):
        return nan(a.name)
    negative = a.negative != b.negative
    if a.infinite or b.number == 0:
        return infinity(a.name, negative)
    return rounded(Fraction(0) if b.infinite else a.fraction / b.fraction, a.name, negative=negative)


def fused(a: Bits, b: Bits, c: Bits) -> Bits:
    if a.special or b.special or c.special:
        if (a.infinite and b.number == 0) or (b.infinite and a.number == 0) or a.nan or b.nan or c.nan:
            return nan(a.name)
        if not (a.infinite or b.infinite):
            return c
        product = infinity(a.name, a.negative != b.negative)
        return nan(a.name) if c.infinite and c.negative != product.negative else product
    negative = a.negative != b.negative and c.negative
    return rounded(a.fraction * b.fraction + c.fraction, a.name, negative=negative)


def times_power(a: Bits, power: int) -> Bits:
    if a.special or a.number == 0:
        return a
    power = max(min(power, 5000), -5000)  # beyond every format
    return rounded(a.fraction * Fraction(2) ** power, a.name, negative=a.negative)
