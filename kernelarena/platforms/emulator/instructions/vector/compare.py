"""Comparisons, and the classes of floating-point numbers. Each gives one bit a lane."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array, is_denormal, is_negative, is_signalling
from kernelarena.platforms.emulator.instructions.registry import vector

Relation = Callable[[Array, Array], Array]


def _never(a: Array, b: Array) -> Array:
    return np.zeros(np.broadcast_shapes(a.shape, b.shape), bool)


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _unlike(a: Array, b: Array) -> Array:
    return (a < b) | (a > b)


def _not(relation: Relation) -> Relation:
    return lambda a, b: ~relation(a, b)


_ORDER: dict[str, Relation] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "f": _never,
}
_INTEGERS: dict[str, Relation] = {**_ORDER, "ne": np.not_equal, "t": _not(_never)}
_FLOATS: dict[str, Relation] = {
    **_ORDER, "lg": _unlike, "tru": _not(_never), "u": _unordered, "o": _not(_unordered), "nlg": _not(_unlike),
    **{f"n{name}": _not(_ORDER[name]) for name in ("lt", "eq", "le", "gt", "ge")},
}  # fmt: skip
for _kind in ("i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"):
    for _name, _relation in (_FLOATS if _kind[0] == "f" else _INTEGERS).items():
        vector(f"v_cmp_{_name}_{_kind}", f"{_kind} {_kind} -> mask")(_relation)


def in_classes(x: Array, wanted: Array) -> Array:
    """Tell whose class has its bit set in ``wanted``.

    From bit 0: signalling NaN, quiet NaN, then infinity, normal, denormal and zero of the negative ones, then zero,
    denormal, normal and infinity of the positive ones.
    """
    nan = np.isnan(x)
    size = np.where(np.isinf(x), 0, np.where(x == 0, 3, np.where(is_denormal(x), 2, 1)))
    place = np.where(is_negative(x), 2 + size, 9 - size)
    place = np.where(nan, np.where(is_signalling(x), 0, 1), place)
    return (wanted >> place.astype(np.uint32)) & np.uint32(1) != 0


for _kind, _wanted in (("f16", "u32"), ("f32", "u32"), ("f64", "u32")):
    vector(f"v_cmp_class_{_kind}", f"{_kind} {_wanted} -> mask")(in_classes)
