"""Logic and shifts of 32 and 64 bits; SCC says whether the result is not zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.instructions.registry import scalar
from kernelarena.platforms.emulator.lanes import Array

_LOGIC: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}


def _shift(operation: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Only as many bits of the count matter as the width needs."""
    return lambda a, by: operation(a, (by & np.uint32(a.dtype.itemsize * 8 - 1)).astype(a.dtype))


def _tested(operation: Callable[..., Array]) -> Callable[..., tuple[Array, Array]]:
    def tested(*sources: Array) -> tuple[Array, Array]:
        result = operation(*sources)
        return result, result != 0

    return tested


for _width in (32, 64):
    for _name, _operation in _LOGIC.items():
        scalar(f"s_{_name}_b{_width}", f"b{_width} b{_width} -> b{_width} scc")(_tested(_operation))
    scalar(f"s_not_b{_width}", f"b{_width} -> b{_width} scc")(_tested(np.invert))
    scalar(f"s_lshl_b{_width}", f"b{_width} u32 -> b{_width} scc")(_tested(_shift(np.left_shift)))
    scalar(f"s_lshr_b{_width}", f"b{_width} u32 -> b{_width} scc")(_tested(_shift(np.right_shift)))
    scalar(f"s_ashr_i{_width}", f"i{_width} u32 -> i{_width} scc")(_tested(_shift(np.right_shift)))
