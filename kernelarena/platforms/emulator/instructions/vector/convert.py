"""Conversions between integers and floating-point numbers of 16, 32 and 64 bits.

To integers they go towards zero and stop at the ends of the range; NaN becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.floats.narrow import to_f16_towards_zero
from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector
from kernelarena.platforms.emulator.instructions.vector.bitwise import shift_right

Convert = Callable[[Array], Array]

_DTYPES: dict[str, type[Any]] = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
}  # fmt: skip


def _to(name: str) -> Convert:
    dtype = _DTYPES[name]
    return lambda x: x.astype(dtype)


def _whole(name: str, towards: Convert = np.trunc) -> Convert:
    """Return a conversion to an integer type that saturates."""
    dtype = np.dtype(_DTYPES[name])
    limits = np.iinfo(dtype)

    def convert(x: Array) -> Array:
        whole = np.clip(towards(x).astype(np.float64), limits.min, limits.max)
        return np.where(np.isnan(whole), 0.0, whole).astype(dtype)

    return convert


for _result, _source in (
    ("f32", "i32"), ("f32", "u32"), ("f64", "i32"), ("f64", "u32"), ("f16", "i16"), ("f16", "u16"),
    ("f32", "f16"), ("f16", "f32"), ("f32", "f64"), ("f64", "f32"),
):  # fmt: skip
    vector(f"v_cvt_{_result}_{_source}", f"{_source} -> {_result}")(_to(_result))
for _result, _source in (
    ("i32", "f32"), ("u32", "f32"), ("i32", "f64"), ("u32", "f64"), ("i16", "f16"), ("u16", "f16"),
):  # fmt: skip
    vector(f"v_cvt_{_result}_{_source}", f"{_source} -> {_result}")(_whole(_result))

vector("v_cvt_flr_i32_f32", "f32 -> i32")(_whole("i32", np.floor))
vector("v_cvt_rpi_i32_f32", "f32 -> i32")(_whole("i32", lambda x: np.floor(x + np.float32(0.5))))


def _byte(number: int) -> Convert:
    return lambda x: ((x >> np.uint32(8 * number)) & np.uint32(255)).astype(np.float32)


for _number in range(4):
    vector(f"v_cvt_f32_ubyte{_number}", "u32 -> f32")(_byte(_number))


def _pair(convert: Convert) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.stack(np.broadcast_arrays(convert(a), convert(b)), axis=-1)


vector("v_cvt_pkrtz_f16_f32", "f32 f32 -> v2f16")(_pair(to_f16_towards_zero))
vector("v_cvt_pk_f16_f32", "f32 f32 -> v2f16", targets=("gfx950",))(_pair(_to("f16")))


def _narrowed(name: str) -> Convert:
    dtype = np.dtype(_DTYPES[name])
    limits = np.iinfo(dtype)
    return lambda x: np.clip(x, x.dtype.type(limits.min), x.dtype.type(limits.max)).astype(dtype)


vector("v_cvt_pk_i16_i32", "i32 i32 -> v2i16")(_pair(_narrowed("i16")))
vector("v_cvt_pk_u16_u32", "u32 u32 -> v2u16")(_pair(_narrowed("u16")))


def _shifted(name: str) -> Callable[[Array, Array, Array], Array]:
    limits = np.iinfo(name)

    def pack(low: Array, high: Array, by: Array) -> Array:
        parts = [np.clip(shift_right(x, by), limits.min, limits.max).astype(np.uint16) for x in (low, high)]
        return parts[0] & np.uint16(255) | parts[1] << np.uint16(8)

    return pack


vector("v_ashr_pk_i8_i32", "i32 i32 u32 -> u16lo", targets=("gfx950",))(_shifted("int8"))
vector("v_ashr_pk_u8_i32", "i32 i32 u32 -> u16lo", targets=("gfx950",))(_shifted("uint8"))


@vector("v_sat_pk_u8_i16", "v2i16 -> u16")
def saturate(x: Array) -> Array:
    """Put two numbers into bytes, stopping at the ends of the range."""
    low = np.clip(x, np.int16(0), np.int16(255)).astype(np.uint16)
    return low[..., 0] | low[..., 1] << np.uint16(8)
