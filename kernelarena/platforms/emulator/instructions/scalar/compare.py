"""Comparisons into SCC: SOPC, and SOPK against a constant of 16 bits."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.instructions.registry import scalar

_RELATIONS = {
    "eq": np.equal, "lg": np.not_equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal,
}  # fmt: skip

for _name, _relation in _RELATIONS.items():
    scalar(f"s_cmp_{_name}_i32", "i32 i32 -> scc")(_relation)
    scalar(f"s_cmp_{_name}_u32", "u32 u32 -> scc")(_relation)
    scalar(f"s_cmpk_{_name}_i32", "i32 i16 -> scc")(_relation)
    scalar(f"s_cmpk_{_name}_u32", "u32 u16 -> scc")(_relation)
for _name in ("eq", "lg"):
    scalar(f"s_cmp_{_name}_u64", "u64 u64 -> scc")(_RELATIONS[_name])
