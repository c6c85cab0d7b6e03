"""Sign, exponent and fraction of IEEE numbers, by their bits, and the classes that these make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Format:
    """An interchange format of IEEE 754.

    Attributes
    ----------
    bits
        The unsigned type of the same width.
    signed
        The signed type of the same width.
    fraction
        Stored bits of the significand.
    bias
        Of the exponent.
    """

    bits: type[np.unsignedinteger[Any]]
    signed: type[np.signedinteger[Any]]
    fraction: int
    bias: int

    @property
    def width(self) -> int:
        """Bits in all."""
        return np.dtype(self.bits).itemsize * 8

    @property
    def sign(self) -> Any:
        """The bit of the sign."""
        return self.bits(1 << (self.width - 1))

    @property
    def quiet(self) -> Any:
        """The bit that tells a quiet NaN from a signalling one."""
        return self.bits(1 << (self.fraction - 1))

    @property
    def top(self) -> int:
        """The exponent field of infinities and NaNs."""
        return 2 * self.bias + 1


FORMATS = {
    np.dtype(np.float16): Format(np.uint16, np.int16, 10, 15),
    np.dtype(np.float32): Format(np.uint32, np.int32, 23, 127),
    np.dtype(np.float64): Format(np.uint64, np.int64, 52, 1023),
}


def bits(x: Array) -> Array:
    """Return the bits of floats, as unsigned integers of their width."""
    return np.asarray(x).view(FORMATS[x.dtype].bits)


def exponent(x: Array) -> Array:
    """Return the exponent field, biased, as int32."""
    form = FORMATS[x.dtype]
    return ((bits(x) >> form.bits(form.fraction)) & form.bits(form.top)).astype(np.int32)


def is_negative(x: Array) -> Array:
    """Tell whose sign bit is set, NaNs' too."""
    return (bits(x) & FORMATS[x.dtype].sign) != 0


def is_signalling(x: Array) -> Array:
    """Tell the signalling NaNs."""
    return np.isnan(x) & ((bits(x) & FORMATS[x.dtype].quiet) == 0)


def is_denormal(x: Array) -> Array:
    """Tell the numbers below the least normal one; zero is none."""
    return (np.abs(x) < np.finfo(x.dtype).smallest_normal) & (x != 0)


def flushed(x: Array) -> Array:
    """Return ``x`` with zeros of the same sign in place of denormals."""
    return np.where(np.abs(x) < np.finfo(x.dtype).smallest_normal, np.copysign(x.dtype.type(0), x), x)


def significand(x: Array) -> Array:
    """Return finite ``x`` scaled to ``[0.5, 1)`` in magnitude; zeros, infinities and NaNs as they are."""
    return np.frexp(x)[0]


def scale(x: Array) -> Array:
    """Return ``e`` such that finite ``x == significand(x) * 2**e``; 0 for zeros, infinities and NaNs (int32)."""
    return np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(np.int32)


def bounded(result: Array, sources: Iterable[Array]) -> Array:
    """Return a result with the largest numbers in place of infinities that come of none among the sources."""
    beyond = np.isinf(result)
    if not beyond.any():
        return result
    for source in sources:
        beyond = beyond & ~np.isinf(source)
    return np.where(beyond, np.copysign(np.finfo(result.dtype).max, result), result)
