"""Logic, shifts, fields and counts of bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector

_ONE = np.uint32(1)
_ALL = np.uint32(0xFFFFFFFF)
_LANES = np.arange(64, dtype=np.uint64)

vector("v_and_b32", "u32 u32 -> u32")(np.bitwise_and)
vector("v_or_b32", "u32 u32 -> u32")(np.bitwise_or)
vector("v_xor_b32", "u32 u32 -> u32")(np.bitwise_xor)
vector("v_not_b32", "u32 -> u32")(np.invert)
vector("v_xnor_b32", "u32 u32 -> u32")(lambda a, b: ~(a ^ b))
vector("v_or3_b32", "u32 u32 u32 -> u32")(lambda a, b, c: a | b | c)
vector("v_and_or_b32", "u32 u32 u32 -> u32")(lambda a, b, c: (a & b) | c)
vector("v_bfi_b32", "u32 u32 u32 -> u32")(lambda mask, a, b: (mask & a) | (~mask & b))


def shift_left(x: Array, by: Array) -> Array:
    """Shift by the low bits of ``by``, as many as the width needs."""
    return x << _count(x, by)


def shift_right(x: Array, by: Array) -> Array:
    """Shift likewise; signed numbers keep their sign."""
    return x >> _count(x, by)


def _count(x: Array, by: Array) -> Array:
    return (by & by.dtype.type(x.dtype.itemsize * 8 - 1)).astype(x.dtype)


def _backwards(shift: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda by, x: shift(x, by)


for _kind in ("u16", "u32", "u64"):
    _bits, _by = _kind[1:], "u16" if _kind == "u16" else "u32"
    vector(f"v_lshlrev_b{_bits}", f"{_by} {_kind} -> {_kind}")(_backwards(shift_left))
    vector(f"v_lshrrev_b{_bits}", f"{_by} {_kind} -> {_kind}")(_backwards(shift_right))
    vector(f"v_ashrrev_i{_bits}", f"{_by} i{_bits} -> i{_bits}")(_backwards(shift_right))
for _name, _kind, _shift in (
    ("v_pk_lshlrev_b16", "v2u16", shift_left),
    ("v_pk_lshrrev_b16", "v2u16", shift_right),
    ("v_pk_ashrrev_i16", "v2i16", shift_right),
):
    vector(_name, f"v2u16 {_kind} -> {_kind}")(_backwards(_shift))

vector("v_lshl_or_b32", "u32 u32 u32 -> u32")(lambda a, by, b: shift_left(a, by) | b)


def field_mask(width: Array) -> Array:
    """Return as many low ones as the low five bits of ``width`` say."""
    return shift_left(np.full_like(width, 1), width) - _ONE


@vector("v_bfm_b32", "u32 u32 -> u32")
def mask(width: Array, offset: Array) -> Array:
    """Make a field of ones."""
    return shift_left(field_mask(width), offset)


@vector("v_bfe_u32", "u32 u32 u32 -> u32")
def extract(x: Array, offset: Array, width: Array) -> Array:
    """Take a field."""
    return shift_right(x, offset) & field_mask(width)


@vector("v_bfe_i32", "i32 u32 u32 -> i32")
def extract_signed(x: Array, offset: Array, width: Array) -> Array:
    """Take a field and extend its sign; one without bits is 0."""
    found = shift_right(x, offset).view(np.uint32) & field_mask(width)
    sign = shift_left(np.full_like(width, 1), width) >> _ONE
    return np.where(width & np.uint32(31) == 0, 0, (found ^ sign) - sign).astype(np.uint32).view(np.int32)


@vector("v_bfrev_b32", "u32 -> u32")
def reverse(x: Array) -> Array:
    """Turn the order of bits around."""
    for width, low in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        by, half = np.uint32(width), np.uint32(low)
        x = ((x >> by) & half) | ((x & half) << by)
    return x


@vector("v_ffbh_u32", "u32 -> u32")
def first_one_from_top(x: Array) -> Array:
    """Count zeros above the highest one; all ones (-1) where there is none."""
    return np.where(x == 0, _ALL, np.uint32(32) - _length(x))


@vector("v_ffbh_i32", "i32 -> u32")
def first_change_from_top(x: Array) -> Array:
    """Count bits like the sign, with it; all ones where all are."""
    odd = (x ^ (x >> np.int32(31))).view(np.uint32)
    return np.where(odd == 0, _ALL, np.uint32(32) - _length(odd))


@vector("v_ffbl_b32", "u32 -> u32")
def first_one_from_bottom(x: Array) -> Array:
    """Count zeros below the lowest one; all ones where there is none."""
    return np.where(x == 0, _ALL, _length(x & (~x + _ONE)) - _ONE)


def _length(x: Array) -> Array:
    return np.frexp(x.astype(np.float64))[1].astype(np.uint32)


def count(x: Array) -> Array:
    """Count ones: uint32."""
    for by, low in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F)):
        x = (x & np.uint32(low)) + ((x >> np.uint32(by)) & np.uint32(low))
    return (x * np.uint32(0x01010101)) >> np.uint32(24)


vector("v_bcnt_u32_b32", "u32 u32 -> u32")(lambda x, base: count(x) + base)


def _counts_below(half: int) -> Callable[[Array, Array], Array]:
    below = (((np.uint64(1) << _LANES) - np.uint64(1)) >> np.uint64(32 * half)).astype(np.uint32)

    def counted(x: Array, base: Array) -> Array:
        return count(x & below) + base

    return counted


vector("v_mbcnt_lo_u32_b32", "u32 u32 -> u32")(_counts_below(0))
vector("v_mbcnt_hi_u32_b32", "u32 u32 -> u32")(_counts_below(1))


def _joined(high: Array, low: Array) -> Array:
    return (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)


@vector("v_alignbit_b32", "u32 u32 u32 -> u32")
def align_bits(high: Array, low: Array, by: Array) -> Array:
    """Take 32 bits out of 64."""
    return (_joined(high, low) >> (by & np.uint32(31)).astype(np.uint64)).astype(np.uint32)


@vector("v_alignbyte_b32", "u32 u32 u32 -> u32")
def align_bytes(high: Array, low: Array, by: Array) -> Array:
    """Take four bytes out of eight."""
    return align_bits(high, low, (by & np.uint32(3)) * np.uint32(8))


@vector("v_perm_b32", "u32 u32 u32 -> u32")
def permute(high: Array, low: Array, selectors: Array) -> Array:
    """Choose each byte of the result: of the eight, of four of their signs, zero or ones."""
    if selectors.shape[-1] == 1 and (selectors == selectors.flat[0]).all():  # as it nearly always is
        return _permuted(high, low, int(selectors.flat[0]))
    shape = np.broadcast_shapes(high.shape, low.shape, selectors.shape)
    choices = np.empty((*shape, 14), np.uint8)
    for place, word in enumerate((low, high)):
        whole = np.ascontiguousarray(np.broadcast_to(word, shape))
        choices[..., 4 * place : 4 * place + 4] = whole[..., None].view(np.uint8)
    choices[..., 8:12] = (choices[..., 1:8:2] >> np.uint8(7)) * np.uint8(255)
    choices[..., 12:] = (0, 255)
    wanted = np.ascontiguousarray(np.broadcast_to(selectors, shape))[..., None].view(np.uint8)
    return np.take_along_axis(choices, np.minimum(wanted, 13).astype(np.intp), -1).view(np.uint32)[..., 0]


def _permuted(high: Array, low: Array, selectors: int) -> Array:
    result = np.zeros(np.broadcast_shapes(high.shape, low.shape), np.uint32)
    for byte in range(4):
        selector = selectors >> 8 * byte & 255
        if selector < 8:
            found = (high if selector > 3 else low) >> np.uint32(8 * (selector & 3)) & np.uint32(255)
        elif selector < 12:
            word = high if selector > 9 else low
            found = (word >> np.uint32(31 if selector & 1 else 15) & np.uint32(1)) * np.uint32(255)
        else:
            found = np.uint32(0 if selector == 12 else 255)
        result |= found << np.uint32(8 * byte)
    return result


def truth(a: Array, b: Array, c: Array, *, bitop3: int = 0) -> Array:
    """Look each bit of the result up by the bits of the sources: ``bitop3`` is the column of the truth table."""
    result = np.zeros_like(a & b & c)
    for row in range(8):
        if bitop3 >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result


vector("v_bitop3_b32", "u32 u32 u32 -> u32", targets=("gfx950",))(truth)
vector("v_bitop3_b16", "u16 u16 u16 -> u16", targets=("gfx950",))(truth)


@vector("v_prng_b32", "u32 -> u32", targets=("gfx950",))
def random_next(x: Array) -> Array:
    """Step a linear feedback shift register."""
    return (x << _ONE) ^ np.where(x >> np.uint32(31) != 0, np.uint32(197), np.uint32(0))
