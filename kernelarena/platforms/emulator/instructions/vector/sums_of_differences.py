"""Sums of absolute differences, and averages, of packed unsigned numbers."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector


def _difference(a: Array, b: Array) -> Array:
    return np.where(a > b, a - b, b - a)


def _total(parts: Array) -> Array:
    return np.asarray(parts.astype(np.uint32).sum(axis=-1, dtype=np.uint32))


@vector("v_sad_u8", "v4u8 v4u8 u32 -> u32")
def of_bytes(a: Array, b: Array, base: Array) -> Array:
    """Add four differences."""
    return _total(_difference(a, b)) + base


@vector("v_msad_u8", "v4u8 v4u8 u32 -> u32")
def of_masked_bytes(a: Array, b: Array, base: Array) -> Array:
    """Add the differences where the second is not 0."""
    return _total(np.where(b == 0, np.uint8(0), _difference(a, b))) + base


vector("v_sad_hi_u8", "v4u8 v4u8 u32 -> u32")(lambda a, b, base: (_total(_difference(a, b)) << np.uint32(16)) + base)
vector("v_sad_u16", "v2u16 v2u16 u32 -> u32")(of_bytes)
vector("v_sad_u32", "u32 u32 u32 -> u32")(lambda a, b, base: _difference(a, b) + base)


@vector("v_lerp_u8", "v4u8 v4u8 v4u8 -> v4u8")
def average(a: Array, b: Array, up: Array) -> Array:
    """Average bytes; the last source's lowest bits say which are rounded up."""
    return ((a.astype(np.uint16) + b + (up & np.uint8(1))) >> np.uint16(1)).astype(np.uint8)
