"""Sums, differences, products, extremes: of SOP2, SOPK and SOP1."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.instructions.registry import scalar
from kernelarena.platforms.emulator.lanes import Array

_U32, _U64, _I64 = np.uint32, np.uint64, np.int64


def _wide(value: Array) -> Array:
    return value.astype(_U64)


@scalar("s_add_u32", "u32 u32 -> u32 scc")
def add(a: Array, b: Array) -> tuple[Array, Array]:
    """Add; SCC is the carry."""
    total = a + b
    return total, total < a


@scalar("s_addc_u32", "u32 u32 scc -> u32 scc")
def add_with_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """Add with the carry that SCC holds."""
    total = _wide(a) + _wide(b) + _wide(carry)
    return total.astype(_U32), total >> _U64(32) != 0


@scalar("s_sub_u32", "u32 u32 -> u32 scc")
def subtract(a: Array, b: Array) -> tuple[Array, Array]:
    """Subtract; SCC is the borrow."""
    return a - b, b > a


@scalar("s_subb_u32", "u32 u32 scc -> u32 scc")
def subtract_with_borrow(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    """Subtract with the borrow that SCC holds."""
    return a - b - borrow.astype(_U32), _wide(b) + _wide(borrow) > _wide(a)


def _checked(result: Array) -> tuple[Array, Array]:
    narrow = result.astype(np.int32)
    return narrow, narrow != result


@scalar("s_add_i32", "i32 i32 -> i32 scc")
def add_signed(a: Array, b: Array) -> tuple[Array, Array]:
    """Add; SCC is the overflow."""
    return _checked(a.astype(_I64) + b)


@scalar("s_sub_i32", "i32 i32 -> i32 scc")
def subtract_signed(a: Array, b: Array) -> tuple[Array, Array]:
    """Subtract; SCC is the overflow."""
    return _checked(a.astype(_I64) - b)


@scalar("s_addk_i32", "dst i16 -> i32 scc")
def add_constant(a: Array, b: Array) -> tuple[Array, Array]:
    """Add a constant of 16 bits; SCC is the overflow."""
    return _checked(a.astype(_I64) + b)


scalar("s_mul_i32", "u32 u32 -> u32")(np.multiply)
scalar("s_mulk_i32", "dst i16 -> i32")(lambda a, b: a * b.astype(np.int32))
scalar("s_mul_hi_u32", "u32 u32 -> u32")(lambda a, b: (_wide(a) * _wide(b) >> _U64(32)).astype(_U32))
scalar("s_mul_hi_i32", "i32 i32 -> i32")(lambda a, b: (a.astype(_I64) * b >> _I64(32)).astype(np.int32))


def _shifted_sum(shift: int) -> None:
    @scalar(f"s_lshl{shift}_add_u32", "u32 u32 -> u32 scc")
    def shift_and_add(a: Array, b: Array) -> tuple[Array, Array]:
        total = (_wide(a) << _U64(shift)) + _wide(b)
        return total.astype(_U32), total >> _U64(32) != 0


for _shift in (1, 2, 3, 4):
    _shifted_sum(_shift)


@scalar("s_min_i32", "i32 i32 -> i32 scc")
@scalar("s_min_u32", "u32 u32 -> u32 scc")
def smaller(a: Array, b: Array) -> tuple[Array, Array]:
    """Take the smaller; SCC says that it is the first."""
    return np.minimum(a, b), a < b


@scalar("s_max_i32", "i32 i32 -> i32 scc")
@scalar("s_max_u32", "u32 u32 -> u32 scc")
def greater(a: Array, b: Array) -> tuple[Array, Array]:
    """Take the greater; SCC says that it is the first."""
    return np.maximum(a, b), a >= b


@scalar("s_abs_i32", "i32 -> i32 scc")
def magnitude(a: Array) -> tuple[Array, Array]:
    """Take the magnitude."""
    result = np.abs(a)
    return result, result != 0


@scalar("s_absdiff_i32", "i32 i32 -> i32 scc")
def distance(a: Array, b: Array) -> tuple[Array, Array]:
    """Take the magnitude of the wrapped difference."""
    return magnitude(a - b)


scalar("s_sext_i32_i8", "u32 -> i32")(lambda a: a.astype(np.int8).astype(np.int32))
scalar("s_sext_i32_i16", "u32 -> i32")(lambda a: a.astype(np.int16).astype(np.int32))
