"""Matrix instructions: every one multiplies, from and to the places that AMD's calculator gives."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from kernelarena.platforms.emulator.instructions import lookup, mnemonics
from kernelarena.platforms.emulator.instructions.kinds import Array
from kernelarena.platforms.emulator.instructions.vector.matrix_layout import LANES, Shape

_CHIPS = ("gfx90a", "gfx942", "gfx950")
_WAVES = 2
_NAME = re.compile(r"v_mfma_([fi]\d+)_(\d+)x\d+x(\d+)(?:_(\d+)b)?_?((?:[xb]?f|i|fp|bf)\d+)(?:_([fb][pf]8)|_1k)?")
_TORCH = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "xf32": torch.float32, "f64": torch.float64,
    "i8": torch.int8,
}  # fmt: skip
_EIGHT_BITS = {
    ("fp8", "gfx942"): torch.float8_e4m3fnuz, ("bf8", "gfx942"): torch.float8_e5m2fnuz,
    ("fp8", "gfx950"): torch.float8_e4m3fn, ("bf8", "gfx950"): torch.float8_e5m2,
}  # fmt: skip


class _Case:
    """One instruction, by its name."""

    def __init__(self, chip: str, mnemonic: str) -> None:
        self.chip, self.mnemonic = chip, mnemonic
        match = _NAME.fullmatch(mnemonic)
        assert match is not None, mnemonic
        self.total, self.kind = match[1], match[5]
        self.other = match[6] or self.kind
        size, k = int(match[2]), int(match[3])
        self.shape = Shape(size, size, k, int(match[4] or self._blocks(size, k)))

    def _blocks(self, size: int, k: int) -> int:
        """Older names leave the number of blocks out: it is what fills 64 lanes with whole registers."""
        if self.total == "f64":
            return 4 if size == 4 else 1
        one = {"f32": {32: 2, 16: 4}, "f16": {32: 8, 16: 16}, "i8": {32: 8, 16: 16}}
        if self.kind == "bf16":
            single = {32: (4, 8, 16), 16: (8, 16, 32)} if not self.mnemonic.endswith("_1k") else {32: (8,), 16: (16,)}
            return 1 if k in single.get(size, ()) else {32: 2, 16: 4, 4: 16}[size]
        return 1 if k >= one.get(self.kind, {}).get(size, 0) and size != 4 else {32: 2, 16: 4, 4: 16}[size]

    def dtype(self, kind: str) -> torch.dtype:
        return _EIGHT_BITS[kind, self.chip] if kind in ("fp8", "bf8") else _TORCH[kind]


def _cases() -> list[Any]:
    found = {}
    for chip in _CHIPS:
        for entry in mnemonics(chip):
            if entry.unit == "matrix" and not entry.mnemonic.endswith("_f8f6f4"):  # they have their own tests
                found.setdefault(
                    (entry.mnemonic, id(entry.function)),
                    pytest.param(chip, entry.mnemonic, id=f"{chip}-{entry.mnemonic}"),
                )
    return list(found.values())


def _registers(matrices: Array, rows: int, dtype: torch.dtype) -> Array:
    """Place ``[waves, blocks, rows, k]``: lane and element by the calculator's formula."""
    waves, blocks, _, length = matrices.shape
    held = rows * length * blocks // LANES
    lanes = np.zeros((waves, LANES, held))
    for block, i, k in itertools.product(range(blocks), range(rows), range(length)):
        lanes[:, i + rows * block + rows * blocks * (k // held), k % held] = matrices[:, block, i, k]
    return torch.from_numpy(lanes).to(dtype).contiguous().view(torch.int32).numpy().view(np.uint32)


def _place(size: int, wide: bool, block: int, i: int, j: int) -> tuple[int, int]:
    """Return the lane and the element of an accumulator: the calculator's formulae, case by case."""
    if wide:
        return (16 * (i % 4) + j, i // 4) if size == 16 else (16 * i + 4 * block + j, 0)
    if size == 32:
        return 32 * (i // 4 % 2) + j, 16 * block + 4 * (i // 8) + i % 4
    if size == 16:
        return 16 * (i // 4) + j, 4 * block + i % 4
    return 4 * block + j, i


def _accumulator(
    shape: Shape, total: str, fill: Callable[..., Array] | None = None, read: Array | None = None
) -> Array:
    """Place a matrix in an accumulator's registers, or read one from there."""
    dtype = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[total]
    wide = total == "f64"
    held = shape.m * shape.n * shape.blocks // LANES
    lanes = np.zeros((_WAVES, LANES, held), dtype) if read is None else read.view(dtype)
    matrices = np.zeros((_WAVES, shape.blocks, shape.m, shape.n), dtype)
    for block, i, j in itertools.product(range(shape.blocks), range(shape.m), range(shape.n)):
        lane, element = _place(shape.m, wide, block, i, j)
        if fill is not None:
            lanes[:, lane, element] = fill(block, i, j)
        matrices[:, block, i, j] = lanes[:, lane, element]
    return lanes.view(np.uint32) if fill is not None else matrices


@pytest.mark.parametrize(("chip", "mnemonic"), _cases())
def test_it_multiplies_what_lies_in_its_registers(chip: str, mnemonic: str) -> None:
    case = _Case(chip, mnemonic)
    shape = case.shape
    rng = np.random.default_rng(3)
    a = rng.integers(-2, 3, (_WAVES, shape.blocks, shape.m, shape.k))
    b = rng.integers(-2, 3, (_WAVES, shape.blocks, shape.k, shape.n))
    c = rng.integers(-9, 10, (_WAVES, shape.blocks, shape.m, shape.n))
    entry = lookup(mnemonic, chip)
    assert entry is not None
    made = entry.function(
        _registers(a, shape.m, case.dtype(case.kind)),
        _registers(b.transpose(0, 1, 3, 2), shape.n, case.dtype(case.other)),
        _accumulator(shape, case.total, fill=lambda block, i, j: c[:, block, i, j]),
    )
    assert made.dtype == np.uint32
    np.testing.assert_array_equal(_accumulator(shape, case.total, read=made), a @ b + c)


def _f16(matrix: Array, rows: int) -> Array:
    return _registers(matrix, rows, torch.float16)


def _run(mnemonic: str, chip: str, *given: Array, **modifiers: int) -> Array:
    entry = lookup(mnemonic, chip)
    assert entry is not None
    result: Array = entry.function(*given, **modifiers)
    return result


def test_a_constant_accumulator_stands_for_every_register() -> None:
    ones = np.ones((_WAVES, 1, 16, 16))
    zero = np.zeros((1, 1, 1), np.uint32)
    made = _run("v_mfma_f32_16x16x16_f16", "gfx942", _f16(ones, 16), _f16(ones, 16), zero)
    assert made.shape == (_WAVES, LANES, 4)
    assert (made.view(np.float32) == 16).all()


@pytest.mark.parametrize(("cbsz", "abid"), [(1, 0), (1, 1), (2, 3)])
def test_blocks_of_the_first_factor_are_shared(cbsz: int, abid: int) -> None:
    shape = Shape(16, 16, 4, 4)
    a = np.random.default_rng(4).integers(-3, 4, (_WAVES, 4, 16, 4))
    b = np.random.default_rng(5).integers(-3, 4, (_WAVES, 4, 4, 16))
    zero = np.zeros((1, 1, 1), np.uint32)
    made = _run(
        "v_mfma_f32_16x16x4_4b_f16",
        "gfx942",
        _f16(a, 16),
        _f16(b.transpose(0, 1, 3, 2), 16),
        zero,
        cbsz=cbsz,
        abid=abid,
    )
    taken = [block // 2**cbsz * 2**cbsz + abid for block in range(4)]
    np.testing.assert_array_equal(_accumulator(shape, "f32", read=made), a[:, taken] @ b)


@pytest.mark.parametrize(
    ("blgp", "groups"),
    [
        (1, (0, 1, 0, 1)),
        (2, (2, 3, 2, 3)),
        (3, (1, 2, 3, 0)),
        (4, (0,) * 4),
        (5, (1,) * 4),
        (6, (2,) * 4),
        (7, (3,) * 4),
    ],
)
def test_groups_of_lanes_of_the_second_factor_are_shared(blgp: int, groups: tuple[int, ...]) -> None:
    shape = Shape(16, 16, 4, 4)  # of which each block lies in 16 lanes
    a = np.random.default_rng(6).integers(-3, 4, (_WAVES, 4, 16, 4))
    b = np.random.default_rng(7).integers(-3, 4, (_WAVES, 4, 4, 16))
    zero = np.zeros((1, 1, 1), np.uint32)
    made = _run("v_mfma_f32_16x16x4_4b_f16", "gfx942", _f16(a, 16), _f16(b.transpose(0, 1, 3, 2), 16), zero, blgp=blgp)
    np.testing.assert_array_equal(_accumulator(shape, "f32", read=made), a @ b[:, list(groups)])


def test_only_the_oldest_chip_takes_denormals_for_zero() -> None:
    a = np.zeros((_WAVES, 1, 16, 16))
    a[..., 0] = 2.0**-24
    ones, zero = np.ones((_WAVES, 1, 16, 16)), np.zeros((1, 1, 1), np.uint32)
    old = _run("v_mfma_f32_16x16x16f16", "gfx90a", _f16(a, 16), _f16(ones, 16), zero)
    new = _run("v_mfma_f32_16x16x16_f16", "gfx942", _f16(a, 16), _f16(ones, 16), zero)
    assert (old == 0).all()
    assert (new.view(np.float32) == 2.0**-24).all()


def test_sums_are_rounded_one_by_one_from_the_first() -> None:
    a = np.zeros((_WAVES, 1, 16, 16))
    a[..., 0], a[..., 1] = 2.0**15, -(2.0**15)
    b = np.full((_WAVES, 1, 16, 16), 2.0**10)
    one = np.full((1, 1, 1), np.float32(1)).view(np.uint32)
    made = _run("v_mfma_f32_16x16x16_f16", "gfx942", _f16(a, 16), _f16(b, 16), one)
    assert (made == 0).all()  # the accumulator is lost in the first sum, and the second one takes that away


def test_float32_products_are_not_rounded_before_they_are_added() -> None:
    exact = 1 + 2.0**-12
    a = np.zeros((_WAVES, 1, 16, 4))
    a[..., 0] = exact
    b = np.full((_WAVES, 1, 16, 4), exact)
    c = np.full((1, 1, 1), np.float32(-(1 + 2.0**-11))).view(np.uint32)
    made = _run(
        "v_mfma_f32_16x16x4_f32", "gfx942", _registers(a, 16, torch.float32), _registers(b, 16, torch.float32), c
    )
    assert (made.view(np.float32) == 2.0**-24).all()


def test_short_float32_keeps_ten_bits_of_fraction() -> None:
    a = np.zeros((_WAVES, 1, 16, 8))
    a[..., 0] = 1 + 2.0**-10 + 2.0**-12
    one, zero = np.ones((_WAVES, 1, 16, 8)), np.zeros((1, 1, 1), np.uint32)
    made = _run(
        "v_mfma_f32_16x16x8_xf32", "gfx942", _registers(a, 16, torch.float32), _registers(one, 16, torch.float32), zero
    )
    assert (made.view(np.float32) == 1 + 2.0**-10).all()
