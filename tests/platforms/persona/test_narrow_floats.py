from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.platforms.persona.narrow_floats import FORMATS

TORCH = {
    "bf16": (torch.bfloat16, torch.uint16),
    "fp8e4nv": (torch.float8_e4m3fn, torch.uint8),
    "fp8e4b8": (torch.float8_e4m3fnuz, torch.uint8),
    "fp8e5": (torch.float8_e5m2, torch.uint8),
    "fp8e5b16": (torch.float8_e5m2fnuz, torch.uint8),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_decodes_as_torch_has_it(name: str) -> None:
    own, (dtype, bits) = FORMATS[name], TORCH[name]
    codes = np.arange(2 ** (8 * own.bits.itemsize), dtype=own.bits)
    expected = torch.from_numpy(codes.copy()).view(bits).view(dtype).float().numpy()
    np.testing.assert_array_equal(own.decode(codes), expected)
    assert own.decode(codes).dtype == np.float32


@pytest.mark.parametrize("name", FORMATS)
def test_every_finite_value_survives_a_round_trip(name: str) -> None:
    own = FORMATS[name]
    codes = np.arange(2 ** (8 * own.bits.itemsize), dtype=own.bits)
    codes = codes[np.isfinite(own.decode(codes))]
    np.testing.assert_array_equal(own.encode(own.decode(codes)), codes)


@pytest.mark.parametrize("name", FORMATS)
@given(value=st.floats(width=32, allow_nan=False))
def test_rounding_is_to_nearest_even_as_in_torch(name: str, value: float) -> None:
    own, (dtype, bits) = FORMATS[name], TORCH[name]
    largest = torch.finfo(dtype).max
    if name != "bf16":  # torch makes NaN of what is too large, conversion instructions the largest value
        value = max(-largest, min(largest, value))
    expected = torch.tensor(value).to(dtype).view(bits).item()
    assert own.encode(np.array(value, np.float32)).item() == expected


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("step", [0.999, 1.0, 1.001])
def test_values_beside_the_middle_of_two_neighbours(name: str, step: float) -> None:
    own, (dtype, bits) = FORMATS[name], TORCH[name]
    codes = np.arange(1, 0x70, dtype=own.bits) << (8 if name == "bf16" else 0)
    middles = (own.decode(codes).astype(np.float64) + own.decode(codes + own.bits.type(1))) / 2
    values = (middles * step).astype(np.float32)
    expected = torch.from_numpy(values).to(dtype).view(bits).numpy()
    np.testing.assert_array_equal(own.encode(values), expected)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "bf16"])
def test_float8_saturates(name: str) -> None:
    largest = torch.finfo(TORCH[name][0]).max
    own = FORMATS[name]
    given_values = np.array([np.inf, -np.inf, 1e30, -1e30, largest * 1.01])
    np.testing.assert_array_equal(
        own.decode(own.encode(given_values)), np.array([largest, -largest, largest, -largest, largest], np.float32)
    )


@pytest.mark.parametrize("name", FORMATS)
def test_nan_stays_nan(name: str) -> None:
    own = FORMATS[name]
    payload_below = np.array([0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(own.decode(own.encode(np.array([np.nan, -np.nan])))).all()
    assert np.isnan(own.decode(own.encode(payload_below))).all()


@pytest.mark.parametrize("name", FORMATS)
def test_towards_zero_never_grows(name: str) -> None:
    own = FORMATS[name]
    values = np.random.default_rng(0).normal(size=4096).astype(np.float32) * 10
    down = own.decode(own.encode(values, towards_zero=True))
    near = own.decode(own.encode(values))
    assert (np.abs(down) <= np.abs(values)).all()
    assert (np.abs(near) > np.abs(values)).any()
