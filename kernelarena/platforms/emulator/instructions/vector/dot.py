"""Dot products of the parts of registers, added to an accumulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.narrow import from_bf16
from kernelarena.platforms.emulator.floats.parts import Array, flushed
from kernelarena.platforms.emulator.instructions.registry import vector

Widen = Callable[[Array], Array]
Dot = Callable[[Array, Array, Array], Array]

_NIBBLES = np.arange(0, 32, 4, dtype=np.uint32)


def _dot(widen: Widen) -> Dot:
    """Return a dot product that adds one product after another, each rounded, from the lowest part up."""

    def dot(a: Array, b: Array, total: Array) -> Array:
        left, right = widen(a), widen(b)
        for part in range(left.shape[-1]):
            total = total + left[..., part] * right[..., part]
        return total

    return dot


def _clampable(widen: Widen) -> Callable[..., Array]:
    """Return a dot product of integers; clamped, the whole sum is exact before it is made to fit."""
    wrapping, exact = _dot(widen), _dot(lambda x: widen(x).astype(np.int64))

    def dot(a: Array, b: Array, total: Array, *, clamp: bool = False) -> Array:
        if not clamp:
            return wrapping(a, b, total)
        limits = np.iinfo(total.dtype)
        return np.clip(exact(a, b, total.astype(np.int64)), limits.min, limits.max).astype(total.dtype)

    return dot


def _to(dtype: type[np.generic]) -> Widen:
    return lambda x: x.astype(dtype)


def _nibbles(x: Array) -> Array:
    return (x[..., None] >> _NIBBLES) & np.uint32(15)


def _signed_nibbles(x: Array) -> Array:
    return (_nibbles(x).astype(np.int32) ^ 8) - 8


def _flushing(dot: Dot) -> Dot:
    """Have denormals taken and given for zero, as the older chip does (see ``matrix``)."""
    return lambda a, b, c: flushed(dot(flushed(a), flushed(b), flushed(c)))


_f16, _bf16 = _dot(_to(np.float32)), _dot(from_bf16)
_OLD, _NEW = ("gfx90a",), ("gfx942", "gfx950")

_INTEGERS: tuple[tuple[str, str, str, Widen], ...] = (
    ("2_i32_i16", "v2i16", "i32", _to(np.int32)),
    ("2_u32_u16", "v2u16", "u32", _to(np.uint32)),
    ("4_i32_i8", "v4i8", "i32", _to(np.int32)),
    ("4_u32_u8", "v4u8", "u32", _to(np.uint32)),
    ("8_i32_i4", "u32", "i32", _signed_nibbles),
    ("8_u32_u4", "u32", "u32", _nibbles),
)
for _name, _parts, _sum, _widen in _INTEGERS:
    vector(f"v_dot{_name}", f"{_parts} {_parts} {_sum} -> {_sum}")(_clampable(_widen))
    if _sum == "i32":
        vector(f"v_dot{_name[0]}c{_name[1:]}", f"{_parts} {_parts} dst -> i32")(_clampable(_widen))

for _form, _sources in (("v_dot2_f32_f16", "v2f16 v2f16 f32"), ("v_dot2c_f32_f16", "v2f16 v2f16 dst")):
    vector(_form, f"{_sources} -> f32", targets=_OLD)(_flushing(_f16))
    vector(_form, f"{_sources} -> f32", targets=_NEW)(_f16)
vector("v_dot2c_f32_bf16", "v2bf16 v2bf16 dst -> f32", targets=("gfx950",))(_bf16)


@vector("v_dot2_f32_bf16", "v2bf16 v2bf16 f32 -> f32", targets=("gfx950",))
def dot_bf16(a: Array, b: Array, c: Array) -> Array:
    """Add the products before the accumulator."""
    products = from_bf16(a) * from_bf16(b)
    total: Array = products[..., 0] + products[..., 1] + c
    return total
