"""Moves and choices."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.instructions.registry import scalar
from kernelarena.platforms.emulator.lanes import Array


@scalar("s_mov_b32", "b32 -> b32")
@scalar("s_mov_b64", "b64 -> b64")
def move(a: Array) -> Array:
    """Copy."""
    return a


scalar("s_movk_i32", "i16 -> i32")(lambda a: a.astype(np.int32))


@scalar("s_cselect_b32", "b32 b32 scc -> b32")
@scalar("s_cselect_b64", "b64 b64 scc -> b64")
def choose(when: Array, otherwise: Array, condition: Array) -> Array:
    """Take the first where SCC is set."""
    return np.where(condition, when, otherwise)


@scalar("s_cmov_b32", "dst b32 scc -> b32")
@scalar("s_cmov_b64", "dst b64 scc -> b64")
def move_if(before: Array, a: Array, condition: Array) -> Array:
    """Copy where SCC is set."""
    return np.where(condition, a, before)


@scalar("s_cmovk_i32", "dst i16 scc -> i32")
def move_constant_if(before: Array, a: Array, condition: Array) -> Array:
    """Copy a constant of 16 bits where SCC is set."""
    return np.where(condition, a.astype(np.int32), before)
