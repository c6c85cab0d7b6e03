"""How undefined bits go through an operation, for the vector and the scalar unit alike.

By default anything undefined among the sources leaves the result undefined; these are the operations of which more can
be said, and of which more has to be said so that what compilers do with undefined values is not held against kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.instructions.kinds import KINDS, Signature
from kernelarena.platforms.emulator.lanes import Array

_UPWARDS = {
    "add_u32", "add_i32", "sub_u32", "sub_i32", "subrev_u32", "add_co_u32", "sub_co_u32", "mul_lo_u32", "mul_i32",
    "mad_u64_u32", "lshlrev_b32", "lshlrev_b64", "lshl_b32", "lshl_b64", "lshl_add_u32", "lshl_add_u64", "add3_u32",
    "add_lshl_u32", "lshl_or_b32", "xad_u32", "lshl1_add_u32", "lshl2_add_u32", "lshl3_add_u32", "lshl4_add_u32",
    "mul_u32_u24", "mad_u32_u24", "addk_i32", "mulk_i32",
}  # fmt: skip
"""Carries go to higher bits only, so what is below the lowest undefined bit is defined."""
_ALIKE = {"xor_b32", "xor_b64", "not_b32", "not_b64", "or3_b32", "xnor_b32", "xnor_b64", "and_or_b32"}
"""Bits stay in their places."""
_JUNCTIONS = {
    f"{name}_b{width}": flips
    for name, flips in {
        "and": (False, False), "or": (True, True), "andn2": (False, True), "orn2": (True, False),
        "nand": (False, False), "nor": (True, True),
    }.items()
    for width in (32, 64)
}  # fmt: skip
"""Logic in which one side alone can decide a bit: an and, of complements where it says so."""
_MOVING = {
    "mov_b32": (0,), "mov_b64": (0,), "accvgpr_read_b32": (0,), "accvgpr_write_b32": (0,), "accvgpr_mov_b32": (0,),
    "cndmask_b32": (0, 1), "cselect_b32": (0, 1), "cselect_b64": (0, 1), "perm_b32": (0, 1), "alignbit_b32": (0, 1),
    "alignbyte_b32": (0, 1), "bfe_u32": (0,), "lshrrev_b32": (1,), "lshrrev_b64": (1,), "ashrrev_i32": (1,),
    "ashrrev_i64": (1,), "lshr_b32": (0,), "lshr_b64": (0,), "ashr_i32": (0,), "ashr_i64": (0,), "bfrev_b32": (0,),
    "pack_b32_f16": (0, 1), "pk_mov_b32": (0, 1), "bfi_b32": (1, 2),
}  # fmt: skip
"""Functions that only move bits of some of their sources: they move undefined ones likewise."""


def followed(
    name: str, signature: Signature, function: Callable[..., Any], shadows: Sequence[Array],
    values: Sequence[Callable[[], Array]], word: np.dtype[Any],
) -> Array | None:  # fmt: skip
    """Return the undefined bits of the first result, or None where only the default can be said.

    Parameters
    ----------
    name
        The mnemonic without its unit.
    signature, function
        Of the instruction.
    shadows
        The undefined bits of the sources, unsigned integers.
    values
        Read the sources themselves.
    word
        The unsigned integer of the result.
    """
    if name in _UPWARDS:
        return upwards(alike(shadows, word))
    if name in _ALIKE:
        return alike(shadows, word)
    if name in _JUNCTIONS:
        return conjoined(shadows, [value() for value in values], _JUNCTIONS[name])
    if name == "fma_mixhi_f16":
        return upper_half(shadows)
    if name not in _MOVING:
        return None
    data = _MOVING[name]
    sources: list[Any] = []
    for place, (shadow, value) in enumerate(zip(shadows, values, strict=True)):
        sources.append(shadow.view(KINDS[signature.sources[place]].dtype) if place in data else value())
    result = function(*sources)
    moved = np.ascontiguousarray(result[0] if isinstance(result, tuple) else result).view(word)
    # A choice that is itself undefined leaves all of it so.
    for place, shadow in enumerate(shadows):
        if place not in data and shadow.any():
            lost = shadow != 0
            moved = np.where(lost[..., None] if moved.ndim > lost.ndim else lost, word.type(np.iinfo(word).max), moved)
    return moved.astype(word, copy=False)


def alike(shadows: Sequence[Array], word: np.dtype[Any]) -> Array:
    """Return all undefined bits, in the width of the result."""
    found = shadows[0].astype(word)
    for shadow in shadows[1:]:
        found = found | shadow.astype(word)
    return found


def upper_half(shadows: Sequence[Array]) -> Array:
    """Return what is undefined where the last source keeps its lower half, and the others make the upper one."""
    *made, kept = shadows
    lost = alike(made, np.dtype(np.uint32)) != 0
    return (kept & np.uint32(0xFFFF)) | np.where(lost, np.uint32(0xFFFF_0000), np.uint32(0))


def upwards(bits: Array) -> Array:
    """Return every bit from the lowest undefined one up."""
    return bits | (~bits + bits.dtype.type(1))


def conjoined(shadows: Sequence[Array], values: Sequence[Array], flips: tuple[bool, bool]) -> Array:
    """Return what is undefined of a logical and: where the other side is a defined zero, the result is zero."""
    bits: Array = shadows[0] | shadows[1]
    for shadow, value, flip in zip(shadows, values, flips, strict=True):
        known = value.view(shadow.dtype)
        bits = bits & ((~known if flip else known) | shadow)
    return bits
