"""Fields, counts and single bits."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.instructions.registry import scalar
from kernelarena.platforms.emulator.lanes import Array


def _ones(count: Array, dtype: np.dtype[np.generic]) -> Array:
    """Return as many low ones as ``count`` says, at most a whole word."""
    width = dtype.itemsize * 8
    whole = np.array(~np.uint64(0)).astype(dtype)
    shift = (width - np.minimum(count, width)).astype(dtype)
    return np.where(count == 0, dtype.type(0), whole >> np.minimum(shift, dtype.type(width - 1)))


def _field(a: Array, control: Array) -> tuple[Array, Array]:
    """Return the shifted value and the width: the control's low bits are the offset, bits 16 to 22 the width."""
    offset = (control & np.uint32(a.dtype.itemsize * 8 - 1)).astype(a.dtype)
    return a >> offset, control >> np.uint32(16) & np.uint32(0x7F)


@scalar("s_bfe_u32", "u32 u32 -> u32 scc")
@scalar("s_bfe_u64", "u64 u32 -> u64 scc")
def extract(a: Array, control: Array) -> tuple[Array, Array]:
    """Take a field."""
    shifted, width = _field(a, control)
    result = shifted & _ones(width, a.dtype)
    return result, result != 0


@scalar("s_bfe_i32", "i32 u32 -> i32 scc")
@scalar("s_bfe_i64", "i64 u32 -> i64 scc")
def extract_signed(a: Array, control: Array) -> tuple[Array, Array]:
    """Take a field and extend its sign."""
    shifted, width = _field(a, control)
    bits = a.dtype.itemsize * 8
    unused = (bits - np.clip(width, 1, bits)).astype(a.dtype)
    result = np.where(width == 0, a.dtype.type(0), shifted << unused >> unused)
    return result, result != 0


@scalar("s_bfm_b32", "u32 u32 -> b32")
def mask(width: Array, offset: Array) -> Array:
    """Make a field of ones."""
    return ((np.uint32(1) << (width & np.uint32(31))) - np.uint32(1)) << (offset & np.uint32(31))


@scalar("s_bfm_b64", "u32 u32 -> b64")
def mask_wide(width: Array, offset: Array) -> Array:
    """Make a field of ones in 64 bits."""
    one = np.uint64(1)
    return ((one << (width & np.uint32(63)).astype(np.uint64)) - one) << (offset & np.uint32(63)).astype(np.uint64)


def _counted(a: Array, value: int) -> Array:
    bits = np.unpackbits(np.ascontiguousarray(a)[..., None].view(np.uint8), axis=-1)
    return (bits == value).sum(axis=-1, dtype=np.int32)


def _ordered(a: Array) -> Array:
    """Return the bits, lowest first."""
    return np.unpackbits(np.ascontiguousarray(a)[..., None].view(np.uint8), axis=-1, bitorder="little")


def _first(found: Array) -> Array:
    return np.where(found.any(axis=-1), found.argmax(axis=-1), -1).astype(np.int32)


def _first_other_than_sign(a: Array) -> Array:
    downwards = _ordered(a)[..., ::-1]
    return _first(downwards != downwards[..., :1])


for _bits in (32, 64):
    for _value in (0, 1):
        scalar(f"s_bcnt{_value}_i32_b{_bits}", f"b{_bits} -> i32 scc")(
            lambda a, value=_value: (_counted(a, value), _counted(a, value) != 0)
        )
        scalar(f"s_ff{_value}_i32_b{_bits}", f"b{_bits} -> i32")(lambda a, value=_value: _first(_ordered(a) == value))
        scalar(f"s_bitcmp{_value}_b{_bits}", f"b{_bits} u32 -> scc")(
            lambda a, position, value=_value: (
                (a >> (position & np.uint32(a.dtype.itemsize * 8 - 1)).astype(a.dtype) & a.dtype.type(1)) == value
            )
        )
    scalar(f"s_flbit_i32_b{_bits}", f"b{_bits} -> i32")(lambda a: _first(_ordered(a)[..., ::-1] == 1))
    scalar(f"s_brev_b{_bits}", f"b{_bits} -> b{_bits}")(
        lambda a: np.packbits(_ordered(a)[..., ::-1], axis=-1, bitorder="little").view(a.dtype)[..., 0]
    )
scalar("s_flbit_i32", "i32 -> i32")(_first_other_than_sign)
scalar("s_flbit_i32_i64", "i64 -> i32")(_first_other_than_sign)

for _bits in (32, 64):
    scalar(f"s_bitset1_b{_bits}", f"dst u32 -> b{_bits}")(
        lambda a, position: a | a.dtype.type(1) << (position & np.uint32(a.dtype.itemsize * 8 - 1)).astype(a.dtype)
    )
    scalar(f"s_bitset0_b{_bits}", f"dst u32 -> b{_bits}")(
        lambda a, position: a & ~(a.dtype.type(1) << (position & np.uint32(a.dtype.itemsize * 8 - 1)).astype(a.dtype))
    )

_HALF, _LOW = np.uint32(16), np.uint32(0xFFFF)
scalar("s_pack_ll_b32_b16", "u32 u32 -> u32")(lambda a, b: a & _LOW | b << _HALF)
scalar("s_pack_lh_b32_b16", "u32 u32 -> u32")(lambda a, b: a & _LOW | b & ~_LOW)
scalar("s_pack_hh_b32_b16", "u32 u32 -> u32")(lambda a, b: a >> _HALF | b & ~_LOW)
