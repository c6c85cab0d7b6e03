"""Matrix instructions of 8, 6 and 4 bits, with a scale for each 32 elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kernelarena.platforms.emulator.floats import narrow
from kernelarena.platforms.emulator.instructions import lookup
from kernelarena.platforms.emulator.instructions.kinds import Array

_WAVES, _LANES, _BLOCK = 2, 64, 32
_FORMATS = (narrow.FP8, narrow.BF8, narrow.FP6, narrow.BF6, narrow.FP4)
_SHAPES = [(16, 128), (32, 64)]


def _registers(matrix: Array, form: narrow.Narrow) -> Array:
    """Place ``[waves, rows, k]`` as AMD's examples of these instructions load it."""
    _, rows, length = matrix.shape
    codes = narrow.encode(matrix.astype(np.float32), form)
    words = np.zeros((_WAVES, _LANES), object)
    for lane, element in itertools.product(range(_LANES), range(_BLOCK)):
        row, group = lane % rows, lane // rows
        k = _BLOCK * group + element
        if form.width == 8:
            k = length // 2 * (element // 16) + 16 * group + element % 16
        for wave in range(_WAVES):
            words[wave, lane] += int(codes[wave, row, k]) << (form.width * element)
    count = form.width
    return np.array(
        [[[int(word) >> 32 * place & 0xFFFFFFFF for place in range(count)] for word in wave] for wave in words],
        np.uint32,
    )


def _scales(powers: Array, byte: int) -> Array:
    """Place ``[waves, rows, blocks]`` in one byte of a register; the other bytes hold something else."""
    waves, rows, _ = powers.shape
    lanes = np.arange(_LANES)
    codes = (powers[:, lanes % rows, lanes // rows] + 127).astype(np.uint32)
    return (np.uint32(0x55555555) & ~np.uint32(255 << 8 * byte) | codes << np.uint32(8 * byte)).reshape(
        waves, _LANES, 1
    )


def _accumulated(registers: Array, size: int) -> Array:
    made = registers.view(np.float32)
    result = np.zeros((_WAVES, size, size))
    for i, j in itertools.product(range(size), range(size)):
        lane = 16 * (i // 4) + j if size == 16 else 32 * (i // 4 % 2) + j
        result[:, i, j] = made[:, lane, i % 4 if size == 16 else 4 * (i // 8) + i % 4]
    return result


def _factors(size: int, length: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(9)
    a = rng.choice([-2.0, -1.5, -1.0, 0.0, 0.5, 1.0, 2.0], (_WAVES, size, length))
    return a, rng.choice([-2.0, -1.0, -0.5, 0.0, 1.0, 1.5], (_WAVES, size, length))


@pytest.mark.parametrize(("size", "length"), _SHAPES)
@pytest.mark.parametrize(("cbsz", "blgp"), [(0, 0), (1, 1), (2, 3), (4, 4), (0, 4), (3, 2), (4, 1)])
def test_every_pair_of_formats_is_multiplied(size: int, length: int, cbsz: int, blgp: int) -> None:
    a, b = _factors(size, length)
    entry = lookup(f"v_mfma_f32_{size}x{size}x{length}_f8f6f4", "gfx950")
    assert entry is not None
    zero = np.zeros((1, 1, 1), np.uint32)
    given = [_registers(a, _FORMATS[cbsz]), _registers(b, _FORMATS[blgp]), zero]
    made = entry.function(*given, cbsz=cbsz, blgp=blgp)
    np.testing.assert_array_equal(_accumulated(made, size), a @ b.transpose(0, 2, 1))


@pytest.mark.parametrize(("size", "length"), _SHAPES)
@pytest.mark.parametrize(
    ("op_sel", "op_sel_hi"), [((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (0, 1, 0)), ((1, 1, 0), (1, 1, 1))]
)
def test_every_block_has_its_own_scale(
    size: int, length: int, op_sel: tuple[int, ...], op_sel_hi: tuple[int, ...]
) -> None:
    a, b = _factors(size, length)
    rng = np.random.default_rng(10)
    powers_a, powers_b = (rng.integers(-5, 6, (_WAVES, size, length // _BLOCK)) for _ in range(2))
    entry = lookup(f"v_mfma_scale_f32_{size}x{size}x{length}_f8f6f4", "gfx950")
    assert entry is not None
    made = entry.function(
        _registers(a, narrow.FP8), _registers(b, narrow.FP4), np.full((1, 1, 1), np.float32(1)).view(np.uint32),
        _scales(powers_a, op_sel[0] + 2 * op_sel_hi[0]), _scales(powers_b, op_sel[1] + 2 * op_sel_hi[1]),
        blgp=4, op_sel=op_sel, op_sel_hi=op_sel_hi,
    )  # fmt: skip
    scaled_a = a * np.repeat(2.0**powers_a, _BLOCK, axis=2)
    scaled_b = b * np.repeat(2.0**powers_b, _BLOCK, axis=2)
    np.testing.assert_array_equal(_accumulated(made, size), 1 + scaled_a @ scaled_b.transpose(0, 2, 1))


def test_a_scale_that_is_no_number_makes_none() -> None:
    a, b = _factors(16, 128)
    entry = lookup("v_mfma_scale_f32_16x16x128_f8f6f4", "gfx950")
    assert entry is not None
    powers = np.zeros((_WAVES, 16, 4), int)
    powers[:, 3, 2] = 128  # the code 255
    one = _scales(np.zeros_like(powers), 0)
    given = [_registers(a, narrow.FP8), _registers(b, narrow.FP8), np.zeros((1, 1, 1), np.uint32)]
    made = _accumulated(entry.function(*given, _scales(powers, 0), one, op_sel=(0, 0, 0), op_sel_hi=(0, 0, 0)), 16)
    assert np.isnan(made[:, 3]).all()
    assert np.isfinite(np.delete(made, 3, axis=1)).all()
