"""Products of integers, with and without a sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector

Product = Callable[[Array, Array], Array]


def _wide(a: Array, b: Array) -> Array:
    double = np.uint64 if a.dtype == np.uint32 else np.int64
    return a.astype(double) * b.astype(double)


def _high(a: Array, b: Array) -> Array:
    return (_wide(a, b) >> _wide(a, b).dtype.type(32)).astype(a.dtype)


def _of_24_bits(product: Product) -> Product:
    def narrow(a: Array, b: Array) -> Array:
        return product(_low24(a), _low24(b))

    return narrow


def _low24(x: Array) -> Array:
    by = x.dtype.type(8)
    return (x << by) >> by  # of signed numbers it brings the sign along


vector("v_mul_lo_u32", "u32 u32 -> u32")(np.multiply)
vector("v_mul_hi_u32", "u32 u32 -> u32")(_high)
vector("v_mul_hi_i32", "i32 i32 -> i32")(_high)
for _kind in ("i32", "u32"):
    _suffix = f"{_kind}_{_kind[0]}24"
    vector(f"v_mul_{_suffix}", f"{_kind} {_kind} -> {_kind}")(_of_24_bits(np.multiply))
    vector(f"v_mul_hi_{_suffix}", f"{_kind} {_kind} -> {_kind}")(_of_24_bits(_high))
    vector(f"v_mad_{_suffix}", f"{_kind} {_kind} {_kind} -> {_kind}")(lambda a, b, c: _low24(a) * _low24(b) + c)


def _mad_of_16_bits(wide: type[np.integer[Any]]) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: a.astype(wide) * b.astype(wide) + c


vector("v_mad_u32_u16", "u16 u16 u32 -> u32")(_mad_of_16_bits(np.uint32))
vector("v_mad_i32_i16", "i16 i16 i32 -> i32")(_mad_of_16_bits(np.int32))


@vector("v_mad_u64_u32", "u32 u32 u64 -> u64 mask")
def wide_mad(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Multiply to 64 bits and add; the carry is bit 64 of the result."""
    total = _wide(a, b) + c
    return total, total < c


@vector("v_mad_i64_i32", "i32 i32 i64 -> i64 mask")
def wide_mad_signed(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Multiply to 64 bits and add; the mask is bit 64 of the result, its true sign."""
    product = _wide(a, b)
    total = product + c
    overflows = ((total ^ product) & (total ^ c)) < 0
    return total, (total < 0) ^ overflows
