"""Copies and choices: no arithmetic."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector


def _same(a: Array) -> Array:
    return a


for _name in ("v_mov_b32", "v_accvgpr_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32"):
    vector(_name, "b32 -> b32")(_same)
vector("v_mov_b64", "b64 -> b64")(_same)


@vector("v_cndmask_b32", "b32 b32 mask -> b32")
def choose(otherwise: Array, when: Array, condition: Array) -> Array:
    """Take the second where the lane's bit is set."""
    return np.where(condition, when, otherwise)


@vector("v_pk_mov_b32", "v2u32 v2u32 -> v2u32")
def packed_move(a: Array, b: Array) -> Array:
    """Take one register of each pair; which one, op_sel has said by putting it first."""
    return np.stack(np.broadcast_arrays(a[..., 0], b[..., 0]), axis=-1)


@vector("v_pack_b32_f16", "f16 f16 -> v2f16")
def pack(a: Array, b: Array) -> Array:
    """Put two halves side by side."""
    return np.stack(np.broadcast_arrays(a, b), axis=-1)
