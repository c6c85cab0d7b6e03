"""Multiply-add in float32 of sources that are each a float32 or half a register of float16."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.floats.fused import fma
from kernelarena.platforms.emulator.floats.parts import Array, bounded
from kernelarena.platforms.emulator.instructions.registry import vector

vector("v_fma_mix_f32", "mix mix mix -> f32")(fma)


@vector("v_fma_mixlo_f16", "mix mix mix -> f16lo")
def low(a: Array, b: Array, c: Array) -> Array:
    """Round to float32 and then to float16, and keep the upper half."""
    return fma(a, b, c).astype(np.float16)


@vector("v_fma_mixhi_f16", "mix mix mix dst -> b32")
def high(a: Array, b: Array, c: Array, before: Array, *, saturates: bool = False) -> Array:
    """Round likewise, write the upper half and keep the lower one."""
    result = low(a, b, c)
    if saturates:
        result = bounded(result, (a, b, c))
    return before & np.uint32(0xFFFF) | result.view(np.uint16).astype(np.uint32) << np.uint32(16)
