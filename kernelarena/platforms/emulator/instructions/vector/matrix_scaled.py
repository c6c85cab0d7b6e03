"""Matrix multiply-accumulate of factors of 8, 6 or 4 bits, each block of 32 of which may have a scale of its own.

``cbsz`` and ``blgp`` name the formats of the two factors. Each block's products are summed by themselves, in order, and
the sum is scaled before it is added to the accumulator (*CDNA4 ISA guide*, "Block-scaled matrix operations"). For where
elements lie see AMD's *Matrix Core Programming on CDNA3 and CDNA4*: of 8-bit numbers a lane's first and second halves
are from the first and second half of the sum, others are consecutive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.narrow import BF6, BF8, FP4, FP6, FP8, Narrow, decode
from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import matrix
from kernelarena.platforms.emulator.instructions.vector.matrix import summed
from kernelarena.platforms.emulator.instructions.vector.matrix_layout import LANES, Shape, whole

_FORMATS = (FP8, BF8, FP6, BF6, FP4)
_BLOCK = 32
_HALF = 16


def _elements(registers: Array, form: Narrow) -> Array:
    """Return a lane's 32 numbers: float32 ``[waves, 64, 32]``."""
    words = registers.view(np.uint8)
    at = np.arange(_BLOCK) * form.width
    pairs = words[..., at // 8].astype(np.uint16)
    if 8 % form.width:  # some straddle bytes
        following = np.minimum(at // 8 + 1, _BLOCK * form.width // 8 - 1)
        pairs |= words[..., following].astype(np.uint16) << np.uint16(8)
    return decode(pairs >> (at % 8).astype(np.uint16), form)


def _rows(registers: Array, form: Narrow, rows: int) -> Array:
    """Unfold a factor to ``[blocks, 32, waves, rows]``."""
    values = _elements(registers, form)
    groups = LANES // rows
    if form.width == 8:
        halves = values.reshape(-1, groups, rows, 2, _HALF).transpose(3, 1, 4, 0, 2)
        return halves.reshape(groups, _BLOCK, -1, rows)
    return np.ascontiguousarray(values.reshape(-1, groups, rows, _BLOCK).transpose(1, 3, 0, 2))


def _powers(registers: Array, byte: int, rows: int) -> Array:
    """Return the scales' exponents, ``[waves, rows, blocks]``; NaN where there is none."""
    codes = (registers[..., 0] >> np.uint32(8 * byte)) & np.uint32(255)
    powers = np.where(codes == 255, np.nan, codes.astype(np.float64) - 127)
    return powers.reshape(-1, LANES // rows, rows).transpose(0, 2, 1)


def _multiply(shape: Shape) -> Callable[..., Array]:
    registers = shape.m * shape.n // LANES
    one = np.full((1, 1, 1), 127, np.uint32)

    def scaled(
        a: Array, b: Array, c: Array, scale_a: Array = one, scale_b: Array = one, *, cbsz: int = 0, blgp: int = 0,
        op_sel: tuple[int, ...] = (0, 0, 0), op_sel_hi: tuple[int, ...] = (1, 1, 1),
    ) -> Array:  # fmt: skip
        waves = max(map(len, (a, b, c)))
        left = _rows(whole(a, waves), _FORMATS[cbsz], shape.m)
        right = _rows(whole(b, waves), _FORMATS[blgp], shape.n)
        bytes_ = (0, 0) if scale_a is one else tuple(op_sel[place] + 2 * op_sel_hi[place] for place in range(2))
        powers = (
            _powers(whole(scale_a, waves), bytes_[0], shape.m)[:, :, None]
            + _powers(whole(scale_b, waves), bytes_[1], shape.n)[:, None]
        )
        sums = shape.result(whole(c, waves, registers).view(np.float32))[:, 0]
        for block in range(len(left)):
            total = summed(left[block], right[block], np.zeros_like(sums))
            sums = sums + _scaled(total, powers[..., block])
        return shape.folded(sums).view(np.uint32)

    return scaled


def _scaled(total: Array, powers: Array) -> Array:
    known = np.isfinite(powers)
    scaled = np.ldexp(total, np.where(known, powers, 0).astype(np.int32))
    return np.where(known, scaled, np.float32(np.nan))


for _shape in (Shape(16, 16, 128), Shape(32, 32, 64)):
    for _prefix in ("v_mfma_f32", "v_mfma_scale_f32"):
        _name = f"{_prefix}_{_shape.m}x{_shape.n}x{_shape.k}_f8f6f4"
        matrix(_name, targets=("gfx950",))(_multiply(_shape))
