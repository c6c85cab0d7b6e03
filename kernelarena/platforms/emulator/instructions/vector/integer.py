"""Integers of 32 and 64 bits: sums, carries, extremes. They wrap."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector
from kernelarena.platforms.emulator.instructions.vector.bitwise import shift_left
from kernelarena.platforms.emulator.instructions.vector.saturation import clampable

Two = tuple[Array, Array]

for _kind in ("u32", "i32"):
    vector(f"v_add_{_kind}", f"{_kind} {_kind} -> {_kind}")(clampable(np.add))
    vector(f"v_sub_{_kind}", f"{_kind} {_kind} -> {_kind}")(clampable(np.subtract))
vector("v_subrev_u32", "u32 u32 -> u32")(clampable(lambda a, b: b - a))
vector("v_add3_u32", "u32 u32 u32 -> u32")(lambda a, b, c: a + b + c)
vector("v_xad_u32", "u32 u32 u32 -> u32")(lambda a, b, c: (a ^ b) + c)
vector("v_lshl_add_u32", "u32 u32 u32 -> u32")(lambda a, by, b: shift_left(a, by) + b)
vector("v_add_lshl_u32", "u32 u32 u32 -> u32")(lambda a, b, by: shift_left(a + b, by))
vector("v_lshl_add_u64", "u64 u32 u64 -> u64")(lambda a, by, b: shift_left(a, by & np.uint32(7)) + b)

for _kind in ("i32", "u32"):
    vector(f"v_min_{_kind}", f"{_kind} {_kind} -> {_kind}")(np.minimum)
    vector(f"v_max_{_kind}", f"{_kind} {_kind} -> {_kind}")(np.maximum)


@vector("v_add_co_u32", "u32 u32 -> u32 mask")
def add(a: Array, b: Array) -> Two:
    """Add, and tell of the carry."""
    total = a + b
    return total, total < a


@vector("v_addc_co_u32", "u32 u32 mask -> u32 mask")
def add_carry(a: Array, b: Array, carry: Array) -> Two:
    """Add with what the lower half carried."""
    total, over = add(a, b)
    more = total + carry
    return more, over | (more < total)


@vector("v_sub_co_u32", "u32 u32 -> u32 mask")
def subtract(a: Array, b: Array) -> Two:
    """Subtract, and tell of the borrow."""
    return a - b, b > a


@vector("v_subb_co_u32", "u32 u32 mask -> u32 mask")
def subtract_borrow(a: Array, b: Array, borrow: Array) -> Two:
    """Subtract with what the lower half borrowed."""
    rest, under = subtract(a, b)
    return rest - borrow, under | (borrow & (rest == 0))


vector("v_subrev_co_u32", "u32 u32 -> u32 mask")(lambda a, b: subtract(b, a))
vector("v_subbrev_co_u32", "u32 u32 mask -> u32 mask")(lambda a, b, borrow: subtract_borrow(b, a, borrow))
