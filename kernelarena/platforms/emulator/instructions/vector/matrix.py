"""Matrix multiply-accumulate.

What the chips document is the product and the layout, not the order or the roundings of the sums (*MI300 ISA guide*,
"Matrix Arithmetic Instructions"). Here each product is exact and is added to the accumulator in order of k, every sum
rounded to nearest in the accumulator's type; for float32 and float64 factors that is a chain of fused multiply-adds. A
program whose answer stands on another order stands on what is not promised.

gfx90a takes denormal float16 and bfloat16 for zero, and makes no denormal results of them, whatever the mode says.
Later chips do not (PyTorch, *Numerical accuracy*, "Reduced Precision FP16 and BF16 GEMMs and Convolutions on AMD
Instinct MI200 devices").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.floats.fused import fma
from kernelarena.platforms.emulator.floats.narrow import Narrow, decode, from_bf16
from kernelarena.platforms.emulator.floats.parts import Array, flushed
from kernelarena.platforms.emulator.instructions.registry import matrix
from kernelarena.platforms.emulator.instructions.vector.convert_narrow import FORMATS
from kernelarena.platforms.emulator.instructions.vector.matrix_layout import (
    LANES,
    Shape,
    lanes_of_right,
    shared_blocks,
    whole,
)

Read = Callable[[Array], Array]
Step = Callable[[Array, Array, Array], Array]

_CDNA2, _CDNA3, _CDNA4 = "gfx90a", "gfx942", "gfx950"


def _as(dtype: type[np.generic], wide: type[np.generic] | None = None) -> Read:
    return lambda registers: registers.view(dtype).astype(wide or dtype)


def _bf16(registers: Array) -> Array:
    return from_bf16(registers.view(np.uint16))


def _eight_bits(form: Narrow) -> Read:
    return lambda registers: decode(registers.view(np.uint8), form)


def _xf32(registers: Array) -> Array:
    """Round to the 10 bits of fraction that the unit multiplies: to the nearest, which the guide leaves open."""
    even = (registers >> np.uint32(13)) & np.uint32(1)
    short = ((registers + np.uint32(0xFFF) + even) & np.uint32(0xFFFFE000)).view(np.float32)
    whole = registers.view(np.float32)
    return np.where(np.isfinite(whole), short, whole)


def _normal_f16(registers: Array) -> Array:
    return flushed(registers.view(np.float16)).astype(np.float32)


def _normal_bf16(registers: Array) -> Array:
    return flushed(_bf16(registers))


_AT_ONCE = 4096
"""Elements of accumulators that are in hand at a time."""


def _product_and_sum(a: Array, b: Array, c: Array) -> Array:
    return c + a * b  # exact products: the factors have at most 11 bits, or are integers


def summed(left: Array, right: Array, sums: Array, step: Step = _product_and_sum) -> Array:
    """Add the products of ``[k, waves, …, m]`` and ``[k, waves, …, n]`` to ``[waves, …, m, n]``, in order of k.

    A few waves at a time: what is in hand then stays in the cache, and below what the allocator gives back at once.
    """
    made = np.empty_like(sums)
    few = max(1, _AT_ONCE * len(sums) // sums.size)
    for start in range(0, len(sums), few):
        waves = slice(start, start + few)
        total = sums[waves]
        for column, row in zip(left[:, waves, ..., :, None], right[:, waves, ..., None, :], strict=True):
            total = step(column, row, total)
        made[waves] = total
    return made


def multiply(
    shape: Shape,
    read: tuple[Read, Read],
    total: type[np.generic],
    step: Step = _product_and_sum,
    finish: Read | None = None,
) -> Callable[..., Array]:
    """Return an instruction's function: whole registers in, whole registers out.

    Parameters
    ----------
    shape
        Of the matrices.
    read
        How registers (uint32, contiguous) show the elements of the first and of the second factor.
    total
        The accumulator's type.
    step
        Adds one product to the accumulator.
    finish
        Applied to the accumulator before and after, if given.
    """
    wide = np.dtype(total).itemsize == 8
    registers = shape.m * shape.n * shape.blocks // LANES * (2 if wide else 1)

    def instruction(a: Array, b: Array, c: Array, *, cbsz: int = 0, abid: int = 0, blgp: int = 0) -> Array:
        waves = max(len(a), len(b), len(c))
        left, right = read[0](whole(a, waves)), read[1](whole(b, waves))
        left = shape.left(left)
        right = shape.right(right[:, lanes_of_right(blgp)] if blgp else right)
        if cbsz:
            left = left[:, :, shared_blocks(shape.blocks, cbsz, abid)]
        sums = shape.result(whole(c, waves, registers).view(total), wide=wide)
        sums = finish(sums) if finish else sums
        sums = summed(left, right, sums, step)
        return shape.folded(finish(sums) if finish else sums, wide=wide).view(np.uint32)

    return instruction


def _enter(names: tuple[str, str], targets: tuple[str, ...], function: Callable[..., Any]) -> None:
    """Enter an instruction by its older name, which ends in the type alone, and by its newer one."""
    old = tuple(target for target in targets if target == _CDNA2)
    new = tuple(target for target in targets if target != _CDNA2)
    if old:
        matrix(names[0], targets=old)(function)
    if new:
        matrix(names[1], targets=new)(function)


_ALL, _NEWER = (_CDNA2, _CDNA3, _CDNA4), (_CDNA3, _CDNA4)
_BLOCKS = {32: 2, 16: 4, 4: 16}


def _sized(k_of_one: dict[int, int], k_of_many: dict[int, int]) -> Iterator[tuple[str, str, Shape]]:
    """Yield shapes with the part of the name that says them, older and newer: of one block, then of many."""
    for size, k in k_of_one.items():
        yield f"{size}x{size}x{k}", f"{size}x{size}x{k}", Shape(size, size, k)
    for size, k in k_of_many.items():
        blocks = _BLOCKS[size]
        yield f"{size}x{size}x{k}", f"{size}x{size}x{k}_{blocks}b", Shape(size, size, k, blocks)


def _family(
    kind: str, read: Read, total: type[np.generic], sizes: tuple[dict[int, int], dict[int, int]], *,
    targets: tuple[str, ...] = _ALL, step: Step = _product_and_sum, suffix: str = "", finish: Read | None = None,
) -> None:  # fmt: skip
    result = {np.float32: "f32", np.float64: "f64", np.int32: "i32"}[total]
    for older, newer, shape in _sized(*sizes):
        function = multiply(shape, (read, read), total, step, finish)
        _enter((f"v_mfma_{result}_{older}{kind}{suffix}", f"v_mfma_{result}_{newer}_{kind}"), targets, function)


_family("f32", _as(np.float32), np.float32, ({32: 2, 16: 4}, {32: 1, 16: 1, 4: 1}), step=fma)
_family("xf32", _xf32, np.float32, ({32: 4, 16: 8}, {}), targets=(_CDNA3,))
_family("i8", _as(np.int8, np.int32), np.int32, ({}, {32: 4, 16: 4, 4: 4}))
_family("i8", _as(np.int8, np.int32), np.int32, ({32: 8, 16: 16}, {}), targets=(_CDNA2,))
_family("i8", _as(np.int8, np.int32), np.int32, ({32: 16, 16: 32}, {}), targets=_NEWER)
_family("i8", _as(np.int8, np.int32), np.int32, ({32: 32, 16: 64}, {}), targets=(_CDNA4,))

_HALF = ({32: 8, 16: 16}, {32: 4, 16: 4, 4: 4})
for _kind, _read in (("f16", _as(np.float16, np.float32)), ("bf16", _bf16)):
    _family(_kind, _read, np.float32, _HALF, targets=_NEWER)
    _family(_kind, _read, np.float32, ({32: 16, 16: 32}, {}), targets=(_CDNA4,))
_NARROW = ({32: 4, 16: 8}, {32: 2, 16: 2, 4: 2})  # an older chip's bfloat16, which the newer ones dropped
for _kind, _read, _sizes, _suffix in (
    ("f16", _normal_f16, _HALF, ""),
    ("bf16", _normal_bf16, _HALF, "_1k"),
    ("bf16", _normal_bf16, _NARROW, ""),
):
    _family(_kind, _read, np.float32, _sizes, targets=(_CDNA2,), suffix=_suffix, finish=flushed)

for _shape, _names in (
    (Shape(16, 16, 4), ("v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64")),
    (Shape(4, 4, 4, 4), ("v_mfma_f64_4x4x4f64", "v_mfma_f64_4x4x4_4b_f64")),
):
    _enter(_names, _ALL, multiply(_shape, (_as(np.float64), _as(np.float64)), np.float64, fma))

for (_left, _targets), _left_form in FORMATS.items():
    for (_right, _same), _right_form in FORMATS.items():
        if _same == _targets:
            for _shape in (Shape(32, 32, 16), Shape(16, 16, 32)):
                matrix(f"v_mfma_f32_{_shape.m}x{_shape.n}x{_shape.k}_{_left}_{_right}", targets=_targets)(
                    multiply(_shape, (_eight_bits(_left_form), _eight_bits(_right_form)), np.float32)
                )
