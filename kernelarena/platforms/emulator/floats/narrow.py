"""Numbers of 16, 8, 6 and 4 bits: how they read, and how a wider one is rounded to them.

The 8-bit ones come in two flavours. Those of the OCP (*OCP 8-bit Floating Point Specification (OFP8)*, 2023; gfx950)
have a negative zero, ``e5m2`` infinities as well; of the others, ``fnuz`` (gfx940 family), the pattern of negative zero
is the only NaN, there is no infinity, and the bias is larger by one. 4- and 6-bit ones (*OCP Microscaling Formats (MX)
Specification*, 2023) have neither infinity nor NaN and saturate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array


@dataclass(frozen=True)
class Narrow:
    """A format of at most 8 bits.

    Attributes
    ----------
    exponent, fraction
        Bits of each.
    bias
        Of the exponent.
    largest
        The largest finite number.
    infinity
        The code of positive infinity, or None.
    nan
        The code that conversions give for NaN, and for what is too large where there is no infinity; None where there
        is no NaN and what is too large becomes the largest.
    nans
        All codes of NaNs, without their sign unless the sign makes one.
    """

    exponent: int
    fraction: int
    bias: int
    largest: float
    infinity: int | None = None
    nan: int | None = None
    nans: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Bits in all."""
        return 1 + self.exponent + self.fraction

    @property
    def negative_zero(self) -> bool:
        """Whether there is one: it is the NaN of formats that have none."""
        return self.nan != 1 << (self.width - 1)


FP8_FNUZ = Narrow(4, 3, 8, 240.0, nan=0x80, nans=(0x80,))
BF8_FNUZ = Narrow(5, 2, 16, 57344.0, nan=0x80, nans=(0x80,))
FP8 = Narrow(4, 3, 7, 448.0, nan=0x7F, nans=(0x7F, 0xFF))
BF8 = Narrow(5, 2, 15, 57344.0, infinity=0x7C, nan=0x7F, nans=(0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF))
FP6 = Narrow(2, 3, 1, 7.5)
BF6 = Narrow(3, 2, 3, 28.0)
FP4 = Narrow(2, 1, 1, 6.0)


@cache
def _table(form: Narrow) -> Array:
    codes = np.arange(1 << form.width)
    field = (codes >> form.fraction) & ((1 << form.exponent) - 1)
    fraction = codes & ((1 << form.fraction) - 1)
    whole = np.where(field == 0, fraction, fraction + (1 << form.fraction))
    values = np.ldexp(whole.astype(np.float32), np.maximum(field, 1) - form.bias - form.fraction)
    values = np.where(codes >> (form.width - 1), -values, values)
    if form.infinity is not None:
        values[form.infinity], values[form.infinity | 1 << (form.width - 1)] = np.inf, -np.inf
    values[list(form.nans)] = np.nan
    return values.astype(np.float32)


def decode(codes: Array, form: Narrow) -> Array:
    """Return the numbers that codes (of any unsigned type; bits above the format's are ignored) stand for: float32."""
    return np.asarray(_table(form)[codes & ((1 << form.width) - 1)])


def encode(x: Array, form: Narrow, *, saturates: bool = False) -> Array:
    """Round float32 or float64 to a format and return the codes: uint8.

    Where it ``saturates``, finite numbers that are too large become the largest, and only infinities what stands for
    them.
    """
    wide = np.abs(x.astype(np.float64))
    power = np.maximum(np.frexp(wide)[1] - 1, 1 - form.bias)  # of the last place that is kept, but for `fraction`
    steps = np.rint(np.ldexp(wide, form.fraction - power))
    rounded = np.ldexp(steps, power - form.fraction)
    steps = np.where(np.isfinite(rounded), steps, 0).astype(np.int64)
    codes = steps + (np.where(steps >= 1 << form.fraction, power + form.bias - 1, 0) << form.fraction)
    largest = int(np.flatnonzero(_table(form) == form.largest)[0])
    over = form.infinity if form.infinity is not None else form.nan
    if over is None:
        over = largest
    beyond = np.where(np.isfinite(x), largest, over) if saturates else over
    codes = np.where(rounded > form.largest, beyond, codes)
    sign = np.signbit(x).astype(np.int64) << (form.width - 1)
    if form.negative_zero:
        codes |= sign
    else:
        codes = np.where((codes == 0) | (codes == form.nan), codes, codes | sign)
    if form.nan is not None:
        codes = np.where(np.isnan(x), form.nan | (sign if form.negative_zero else 0), codes)
    else:
        codes = np.where(np.isnan(x), largest, codes)
    return codes.astype(np.uint8)


def from_bf16(codes: Array) -> Array:
    """Return the float32 that bfloat16 codes (uint16) stand for."""
    return (codes.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bf16(x: Array) -> Array:
    """Round float32 to bfloat16 codes (uint16); NaNs become quiet."""
    words = x.view(np.uint32)
    even = (words >> np.uint32(16)) & np.uint32(1)
    rounded = (words + np.uint32(0x7FFF) + even) >> np.uint32(16)
    quiet = (words >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(x), quiet, rounded).astype(np.uint16)


def to_f16_towards_zero(x: Array) -> Array:
    """Round float32 to float16 towards zero: what is too large becomes the largest finite number, not infinity."""
    near = x.astype(np.float16)
    beyond = np.abs(near.astype(np.float32)) > np.abs(x)
    return np.where(beyond, np.nextafter(near, np.float16(0)), near).astype(np.float16)
