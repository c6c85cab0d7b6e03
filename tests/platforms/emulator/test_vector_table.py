"""What the guide's pseudo-code leaves unsaid of vector instructions: names, constants, modifiers, and NumPy's traps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelarena.platforms.emulator.instructions import lookup, mnemonics
from kernelarena.platforms.emulator.instructions.kinds import KINDS, Array
from kernelarena.platforms.emulator.instructions.registry import Entry
from tests.platforms.emulator.oracle import text
from tests.platforms.emulator.oracle.operands import operands

_CHIPS = ("gfx90a", "gfx942", "gfx950")

_HELD_HERE = {
    "v_accvgpr_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_fma_mix_f32", "v_fma_mixhi_f16",
    "v_fma_mixlo_f16",
}  # fmt: skip
_HELD_ELSEWHERE = {"v_mac_f32", "v_mad_f32", "v_madak_f32", "v_madmk_f32"}  # test_vector_elementary


def _run(mnemonic: str, *given: Any, chip: str = "gfx950", **modifiers: Any) -> Any:
    entry = lookup(mnemonic, chip)
    assert entry is not None
    with np.errstate(all="ignore"):
        return entry.function(*given, **modifiers)


@pytest.mark.skipif(not text.AVAILABLE, reason="tinygrad, which carries the pseudo-code, is not installed")
def test_whatever_has_no_pseudo_code_is_held_by_a_test_of_its_own() -> None:
    entries = [entry for chip in _CHIPS for entry in mnemonics(chip)]
    untold = {entry.mnemonic for entry in entries if entry.unit == "vector" and not text.known(entry.mnemonic)}
    assert untold == _HELD_HERE | _HELD_ELSEWHERE


def _given(entry: Entry, seed: int) -> tuple[list[Array], list[tuple[int, ...]]]:
    """Return operands of an instruction, and what its op_sel would be if it looks at that."""
    assert entry.signature is not None
    sources = [name for name in entry.signature.sources if name != "op_sel"]
    kinds = tuple(entry.signature.results[0] if name == "dst" else name for name in sources)
    selection = [(0, 0, 0, 0)] if "op_sel" in entry.signature.sources else []
    return operands(kinds, (2, 64), seed), selection


def _vectors(chip: str) -> list[Entry]:
    return [entry for entry in mnemonics(chip) if entry.unit == "vector"]


@pytest.mark.parametrize("chip", _CHIPS)
def test_no_instruction_writes_into_its_operands_or_changes_its_dtype(chip: str) -> None:
    for entry in _vectors(chip):
        given, selection = _given(entry, seed=1)
        for operand in given:
            operand.flags.writeable = False
        made = _run(entry.mnemonic, *given, *selection, chip=chip)
        assert entry.signature is not None
        for result, name in zip(made if isinstance(made, tuple) else (made,), entry.signature.results, strict=True):
            assert result.dtype == KINDS[name].dtype, entry.mnemonic
            assert result.shape == ((2, 64, KINDS[name].parts) if KINDS[name].parts else (2, 64)), entry.mnemonic


@pytest.mark.parametrize("chip", _CHIPS)
def test_an_operand_that_a_wave_shares_does_what_one_in_every_lane_does(chip: str) -> None:
    for entry in _vectors(chip):
        given, selection = _given(entry, seed=2)
        for place in range(len(given)):
            shared = [operand[:, :1] if place == at else operand for at, operand in enumerate(given)]
            spread = [np.broadcast_to(operand, full.shape) for operand, full in zip(shared, given, strict=True)]
            few = _run(entry.mnemonic, *shared, *selection, chip=chip)
            many = _run(entry.mnemonic, *spread, *selection, chip=chip)
            pairs = zip(few, many, strict=True) if isinstance(few, tuple) else [(few, many)]
            for one, other in pairs:
                np.testing.assert_array_equal(np.broadcast_to(one, other.shape), other, entry.mnemonic)


@pytest.mark.parametrize("name", ["v_accvgpr_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32"])
def test_accumulation_registers_are_copied(name: str) -> None:
    x = np.arange(64, dtype=np.uint32).reshape(1, 64)
    np.testing.assert_array_equal(_run(name, x), x)


@pytest.mark.parametrize("selectors", [0x07060302, 0x05040100, 0x0C0D0E0F, 0x08090A0B, 0x00FF0C07])
def test_bytes_are_chosen_alike_by_one_number_and_by_one_for_each_lane(selectors: int) -> None:
    high, low = operands(("u32", "u32"), (2, 64), seed=2)
    one = np.full((1, 1), selectors, np.uint32)
    each = np.full((2, 64), selectors, np.uint32)
    np.testing.assert_array_equal(_run("v_perm_b32", high, low, one), _run("v_perm_b32", high, low, each))


def test_bytes_are_chosen_by_waves_that_differ() -> None:
    high, low = operands(("u32", "u32"), (2, 64), seed=3)
    selectors = np.array([[0x07060302], [0x05040100]], np.uint32)
    made = _run("v_perm_b32", high, low, selectors)
    np.testing.assert_array_equal(made[0], (high[0] & np.uint32(0xFFFF0000)) | low[0] >> np.uint32(16))
    np.testing.assert_array_equal(made[1], high[1] << np.uint32(16) | low[1] & np.uint32(0xFFFF))


def test_mixed_sums_are_rounded_to_float32_first() -> None:
    # A product half-way between two numbers of float16, plus what only float32 sees and then loses.
    a = np.array([[1 + 2.0**-11, 3.0]], np.float32)
    b = np.array([[1.0, 5.0]], np.float32)
    c = np.array([[2.0**-26, 7.0]], np.float32)
    assert _run("v_fma_mix_f32", a, b, c).tolist() == [[1 + 2.0**-11, 22.0]]
    low = _run("v_fma_mixlo_f16", a, b, c)
    assert low.dtype == np.float16
    assert low.tolist() == [[1.0, 22.0]]
    high = _run("v_fma_mixhi_f16", a, b, c, np.array([[0xABCD1234, 0x00005678]], np.uint32))
    assert [hex(word) for word in high[0]] == [hex(0x3C001234), hex(0x4D805678)]


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_rounding_to_whole_numbers_goes_to_even(kind: str) -> None:
    (x,) = operands((kind,), (20, 64), seed=4)
    made = _run(f"v_rndne_{kind}", x)
    for value, result in zip(x.ravel(), made.ravel(), strict=True):
        if np.isfinite(value):
            assert result == round(Fraction(float(value)))
            assert np.signbit(result) == np.signbit(value)
        else:
            np.testing.assert_equal(result, value)


def test_fractions_stay_below_one() -> None:
    x = np.array([[-1e-30, -0.25, 2.75, np.inf, np.nan, -0.0]], np.float32)
    expected = [[float(np.nextafter(np.float32(1), np.float32(0))), 0.75, 0.75, np.nan, np.nan, 0.0]]
    np.testing.assert_array_equal(_run("v_fract_f32", x), expected)


def test_numbers_are_taken_apart_down_to_the_least() -> None:
    x = np.array([[0.0, -0.0, 2.0**-149, -(2.0**-127), 12.0, np.inf]], np.float32)
    assert _run("v_frexp_exp_i32_f32", x).tolist() == [[0, 0, -148, -126, 4, 0]]
    assert _run("v_frexp_mant_f32", x).tolist() == [[0.0, -0.0, 0.5, -0.5, 0.75, np.inf]]


_CLAMPED = {
    "v_add_u32": lambda a, b: a + b, "v_sub_u32": lambda a, b: a - b, "v_subrev_u32": lambda a, b: b - a,
    "v_add_i32": lambda a, b: a + b, "v_sub_i32": lambda a, b: a - b, "v_add_u16": lambda a, b: a + b,
    "v_sub_u16": lambda a, b: a - b, "v_pk_add_i16": lambda a, b: a + b, "v_pk_sub_u16": lambda a, b: a - b,
    "v_mad_i16": lambda a, b, c: a * b + c, "v_pk_mad_u16": lambda a, b, c: a * b + c,
}  # fmt: skip


@pytest.mark.parametrize("name", _CLAMPED)
def test_clamped_integers_stop_at_the_ends_of_their_range(name: str) -> None:
    entry = lookup(name, "gfx942")
    assert entry is not None
    assert entry.signature is not None
    given = operands(entry.signature.sources, (4, 64), seed=5)
    limits = np.iinfo(given[0].dtype)
    exact = _CLAMPED[name](*(operand.astype(object) for operand in given))
    made = entry.function(*given, clamp=True)
    assert made.dtype == given[0].dtype
    np.testing.assert_array_equal(made.astype(object), np.clip(exact, int(limits.min), int(limits.max)))
    assert (made.astype(object) != exact).any()


def test_clamped_dot_products_are_exact_before_they_are_made_to_fit() -> None:
    bytes_ = np.full((1, 64, 4), -128, np.int8)
    near, far = (np.full((1, 64), value, np.int32) for value in (2**31 - 1, -(2**31)))
    assert (_run("v_dot4_i32_i8", bytes_, bytes_, near, clamp=True) == 2**31 - 1).all()
    assert (_run("v_dot4_i32_i8", bytes_, bytes_, near) == -(2**31) + 4 * 128**2 - 1).all()
    assert (_run("v_dot4_i32_i8", bytes_, bytes_, far, clamp=True) == -(2**31) + 4 * 128**2).all()


def test_eight_bits_mean_what_the_chip_means() -> None:
    x = np.array([[0x38]], np.uint32)
    assert _run("v_cvt_f32_fp8", x, chip="gfx942")[0, 0] == 0.5
    assert _run("v_cvt_f32_fp8", x, chip="gfx950")[0, 0] == 1.0
    assert lookup("v_cvt_f32_fp8", "gfx90a") is None


def test_dot_products_of_the_oldest_chip_take_denormals_for_zero() -> None:
    tiny: Array = np.full((1, 1, 2), 2.0**-24, np.float16)
    one, zero = np.ones((1, 1, 2), np.float16), np.zeros((1, 1), np.float32)
    assert _run("v_dot2_f32_f16", tiny, one, zero, chip="gfx90a")[0, 0] == 0
    assert _run("v_dot2_f32_f16", tiny, one, zero, chip="gfx942")[0, 0] == 2.0**-23


def test_segments_of_two_over_pi_reduce_an_angle() -> None:
    # 2/pi to 159 bits, from the digits of pi in hexadecimal (OEIS A062964).
    pi = Fraction(0x3243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89, 1 << 256)
    one = np.ones((1, 64))
    parts = [Fraction(float(_run("v_trig_preop_f64", one, np.full((1, 64), n, np.uint32))[0, 0])) for n in range(3)]
    assert 0 < 2 / pi - sum(parts) < Fraction(1, 1 << 159)
    large = np.full((1, 64), 2.0**1000)
    (first,) = {float(value) for value in _run("v_trig_preop_f64", large, np.zeros((1, 64), np.uint32)).ravel()}
    shift = 1000 + 1023 - 1077
    assert first < 2.0 ** (128 - shift)
    assert float(_run("v_trig_preop_f64", large, np.full((1, 64), 31, np.uint32))[0, 0]) == 0.0  # no digits so far down
