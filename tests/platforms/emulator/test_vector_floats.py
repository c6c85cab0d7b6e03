"""Exact arithmetic that NumPy lacks: fused, narrow and truncating."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from kernelarena.platforms.emulator.floats import narrow
from kernelarena.platforms.emulator.floats.fused import fma, scaled_fma
from kernelarena.platforms.emulator.floats.parts import flushed, scale, significand
from tests.platforms.emulator.oracle.numbers import Bits, fused, rounded
from tests.platforms.emulator.oracle.operands import operands

_UNSIGNED = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def _bits(name: str, value: Any) -> Bits:
    return Bits("f", int(name[1:]), int(np.asarray(value).view(_UNSIGNED[name])))


@pytest.mark.parametrize("name", _UNSIGNED)
def test_a_fused_sum_is_rounded_once(name: str) -> None:
    a, b, c = operands((name, name, name), (40, 64), seed=5)
    with np.errstate(all="ignore"):
        made = fma(a, b, c)
    for x, y, z, result in zip(*(array.ravel() for array in (a, b, c, made)), strict=True):
        exact = fused(*(_bits(name, value) for value in (x, y, z)))
        assert _bits(name, result) == exact or (np.isnan(result) and exact.nan), (x, y, z)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_fused_sums_at_the_ends_of_the_range(dtype: Any) -> None:
    info = np.finfo(dtype)
    largest, least, one = dtype(info.max), dtype(info.smallest_subnormal), dtype(1)
    half = dtype(0.5)
    a = np.array([largest, largest, least, least, -least, largest, dtype(np.inf), 0 * one], dtype)
    b = np.array([one + one, one + one, half, half, half, one + one, 0 * one, -one], dtype)
    c = np.array([-largest, 0 * one, 0 * one, least, 0 * one, dtype(-np.inf), one, 0 * one], dtype)
    with np.errstate(all="ignore"):
        made = fma(a, b, c)
    expected = np.array([largest, np.inf, 0, 2 * least, -0.0, -np.inf, np.nan, 0], dtype)
    np.testing.assert_array_equal(made, expected)
    assert np.signbit(made[4])
    assert not np.signbit(made[7])


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_a_scaled_sum_is_rounded_after_it_is_scaled(name: str) -> None:
    a, b, c = operands((name, name, name), (20, 64), seed=6)
    power = np.random.default_rng(7).choice([0, 64, -64, -128], a.shape)
    with np.errstate(all="ignore"):
        made = scaled_fma(a, b, c, power)
    for x, y, z, p, result in zip(*(array.ravel() for array in (a, b, c, power, made)), strict=True):
        if all(map(np.isfinite, (x, y, z))):
            exact = (Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))) * Fraction(2) ** int(p)
            negative = np.signbit(x) != np.signbit(y) and np.signbit(z)  # of a sum of zeros
            assert _bits(name, result) == rounded(exact, name, negative=bool(negative)), (x, y, z, p)


def test_narrow_formats_read_as_torch_reads_them() -> None:
    codes = np.arange(256, dtype=np.uint8)
    for form, dtype in _TORCH.items():
        expected = torch.from_numpy(codes.copy()).view(dtype).to(torch.float32).numpy()
        np.testing.assert_array_equal(narrow.decode(codes, form), expected)


_TORCH = {
    narrow.FP8: torch.float8_e4m3fn,
    narrow.BF8: torch.float8_e5m2,
    narrow.FP8_FNUZ: torch.float8_e4m3fnuz,
    narrow.BF8_FNUZ: torch.float8_e5m2fnuz,
}


@pytest.mark.parametrize("form", _TORCH, ids=str)
def test_rounding_to_eight_bits_goes_to_the_nearest_even(form: narrow.Narrow) -> None:
    codes = np.arange(256, dtype=np.uint8)
    numbers = np.unique(narrow.decode(codes, form)[np.isfinite(narrow.decode(codes, form))])
    middles = (numbers[1:] + numbers[:-1]) / 2
    x = np.concatenate(
        [numbers, middles, np.nextafter(middles, np.float32(1e9)), np.nextafter(middles, -np.float32(1e9))]
    )
    expected = torch.from_numpy(x).to(_TORCH[form]).view(torch.uint8).numpy()
    np.testing.assert_array_equal(narrow.encode(x, form), expected)
    again = narrow.encode(narrow.decode(codes, form), form)
    usual = np.isfinite(narrow.decode(codes, form))
    np.testing.assert_array_equal(again[usual], codes[usual])


def test_what_is_too_large_for_eight_bits_is_no_number() -> None:
    x = np.array([1e6, -1e6, np.inf, -np.inf, np.nan], np.float32)
    assert narrow.encode(x, narrow.FP8).tolist() == [0x7F, 0xFF, 0x7F, 0xFF, 0x7F]
    assert narrow.encode(x, narrow.FP8_FNUZ).tolist() == [0x80] * 5
    assert narrow.encode(x, narrow.BF8).tolist() == [0x7C, 0xFC, 0x7C, 0xFC, 0x7F]
    assert narrow.encode(np.array([465.0, 464.0], np.float32), narrow.FP8).tolist() == [0x7F, 0x7E]
    assert narrow.encode(np.array([248.0, 247.0], np.float32), narrow.FP8_FNUZ).tolist() == [0x80, 0x7F]


@pytest.mark.parametrize("form", [narrow.FP4, narrow.FP6, narrow.BF6], ids=str)
def test_formats_without_infinity_stop_at_the_largest(form: narrow.Narrow) -> None:
    codes = np.arange(1 << form.width, dtype=np.uint8)
    values = narrow.decode(codes, form)
    assert values.max() == form.largest
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(narrow.encode(values, form), codes)
    top = narrow.encode(np.array([1e9, np.inf], np.float32), form)
    np.testing.assert_array_equal(narrow.decode(top, form), form.largest)


def test_bfloat16_is_rounded_as_torch_rounds() -> None:
    (x,) = operands(("f32",), (64, 64), seed=8)
    ours = narrow.to_bf16(x)
    theirs = torch.from_numpy(x.copy()).to(torch.bfloat16)
    number = ~np.isnan(x)
    np.testing.assert_array_equal(ours[number], theirs.view(torch.int16).numpy().view(np.uint16)[number])
    np.testing.assert_array_equal(narrow.from_bf16(ours), theirs.to(torch.float32).numpy())


def test_truncation_to_float16_never_grows() -> None:
    (x,) = operands(("f32",), (64, 64), seed=9)
    with np.errstate(all="ignore"):
        made = narrow.to_f16_towards_zero(x)
    for value, result in zip(x.ravel(), made.ravel(), strict=True):
        if np.isfinite(value):
            assert float(result) == rounded(Fraction(float(value)), "f16", towards_zero=True).number, value
        else:
            assert np.isnan(result) if np.isnan(value) else result == value


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_parts_put_a_number_together_again(dtype: Any) -> None:
    info = np.finfo(dtype)
    x = np.array([0.0, -0.0, 1.0, -3.5, info.max, info.smallest_normal, info.smallest_subnormal, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(np.ldexp(significand(x), scale(x)), x)
    assert scale(x)[:2].tolist() == [0, 0]
    assert scale(x)[-2:].tolist() == [0, 0]
    np.testing.assert_array_equal(flushed(x)[:6], x[:6])
    assert flushed(-x)[6] == 0
    assert np.signbit(flushed(-x)[6])
