"""bfloat16 and the float8 formats in NumPy, which has neither: bits to values and back, correctly rounded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[Any]
Values = npt.NDArray[np.float32]


class BFloat16:
    """The upper half of a float32."""

    bits = np.dtype(np.uint16)

    def decode(self, bits: Bits) -> Values:
        """Return the values (float32) of some bits (uint16)."""
        return (bits.astype(np.uint32) << 16).view(np.float32)

    def encode(self, values: npt.NDArray[Any], *, towards_zero: bool = False) -> Bits:
        """Return the bits (uint16) nearest to some values, ties to even; NaN stays NaN."""
        with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinity, which is right
            word = np.ascontiguousarray(values, dtype=np.float32).reshape(values.shape).view(np.uint32)
        bias = np.uint32(0) if towards_zero else np.uint32(0x7FFF) + ((word >> 16) & 1)
        rounded = (word + bias) >> 16
        quiet = (word >> 16) | 0x40  # a NaN whose payload lies in the lower half must not become infinity
        nan = (word & 0x7FFFFFFF) > 0x7F800000
        return np.where(nan, quiet, rounded).astype(np.uint16)


@dataclass(frozen=True)
class Float8:
    """A float8 format, by what sets it apart.

    Attributes
    ----------
    exponent_bits
        4 or 5; the rest below the sign is mantissa.
    bias
        Of the exponent.
    largest
        Code of the largest finite value. Codes grow with the values that they stand for.
    finite_only
        The flavour without infinities and without a negative zero, whose code is NaN (``fnuz``).
    """

    exponent_bits: int
    bias: int
    largest: int
    finite_only: bool

    bits = np.dtype(np.uint8)

    @cached_property
    def _magnitudes(self) -> npt.NDArray[np.float64]:
        """The finite values from zero up, indexed by their code."""
        codes = np.arange(self.largest + 1)
        mantissa_bits = 7 - self.exponent_bits
        exponent, mantissa = codes >> mantissa_bits, codes & ((1 << mantissa_bits) - 1)
        significand = np.where(exponent > 0, mantissa + (1 << mantissa_bits), mantissa)
        scale = np.ldexp(1.0, np.maximum(exponent, 1) - self.bias - mantissa_bits)
        return significand.astype(np.float64) * np.asarray(scale, dtype=np.float64)

    def decode(self, bits: Bits) -> Values:
        """Return the values (float32) of some bits (uint8)."""
        table = np.full(128, np.nan)
        table[: self.largest + 1] = self._magnitudes
        if self.exponent_bits == 5 and not self.finite_only:
            table[self.largest + 1] = np.inf
        both = np.concatenate([table, -table])
        if self.finite_only:
            both[0x80] = np.nan
        return both.astype(np.float32)[bits]

    def encode(self, values: npt.NDArray[Any], *, towards_zero: bool = False) -> Bits:
        """Return the bits (uint8) nearest to some values, ties to even.

        What lies beyond the largest finite value becomes that value, infinities included, as the conversion
        instructions do that compilers emit (``cvt.rn.satfinite`` of PTX ISA 8.1, section "cvt").
        """
        with np.errstate(invalid="ignore"):  # a signalling NaN
            wide = np.asarray(values, dtype=np.float64)
        size = np.minimum(np.abs(wide), self._magnitudes[-1])
        below = np.searchsorted(self._magnitudes, np.nan_to_num(size), side="right") - 1
        above = np.minimum(below + 1, self.largest)
        middle = (self._magnitudes[below] + self._magnitudes[above]) / 2
        up = (size > middle) | ((size == middle) & (below % 2 == 1))
        code = np.where(up & (not towards_zero), above, below)
        negative = np.signbit(wide) & ((code > 0) | (not self.finite_only))
        code = np.where(negative, code | 0x80, code)
        return np.where(np.isnan(wide), 0x80 if self.finite_only else 0x7F, code).astype(np.uint8)


FORMATS: dict[str, BFloat16 | Float8] = {
    "bf16": BFloat16(),
    "fp8e4nv": Float8(exponent_bits=4, bias=7, largest=0x7E, finite_only=False),
    "fp8e4b8": Float8(exponent_bits=4, bias=8, largest=0x7F, finite_only=True),
    "fp8e5": Float8(exponent_bits=5, bias=15, largest=0x7B, finite_only=False),
    "fp8e5b16": Float8(exponent_bits=5, bias=16, largest=0x7F, finite_only=True),
}
"""By Triton's name. Sources: OCP 8-bit Floating Point Specification 1.0 (e4m3, e5m2); Noune et al. 2022,
arXiv:2206.02915 (the ``fnuz`` flavours)."""
