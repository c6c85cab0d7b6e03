"""The MODE register: what a program may do with it, and what becomes of what is too large while FP16_OVFL is set."""

from __future__ import annotations

import numpy as np
import pytest

from kernelarena.platforms.emulator import load
from tests.platforms.emulator.assembled import STORE, run, text

SET = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n"
MAX, INFINITY = 0x7BFF, 0x7C00


def low(body: str, target: str = "gfx942") -> int:
    """Return the low half of v1 of the first lane."""
    out = np.zeros(64, np.uint32)
    run(body + STORE, out, target=target)
    return int(out[0]) & 0xFFFF


@pytest.mark.parametrize(
    ("body", "free", "held"),
    [
        ("v_mov_b32_e32 v2, 0x477fff00\nv_cvt_f16_f32_e32 v1, v2", INFINITY, MAX),
        ("v_mov_b32_e32 v2, 0xc77fff00\nv_cvt_f16_f32_e32 v1, v2", INFINITY | 0x8000, MAX | 0x8000),
        ("v_mov_b32_e32 v2, 0x7bff\nv_add_f16_e32 v1, v2, v2", INFINITY, MAX),
        ("v_mov_b32_e32 v2, 0x7bff7bff\nv_pk_mul_f16 v1, v2, v2", INFINITY, MAX),
        ("v_mov_b32_e32 v2, 0x7bff\nv_fma_f16 v1, v2, v2, v2", INFINITY, MAX),
        ("v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, 0x47ffffff\nv_fma_mixlo_f16 v1, v2, v2, v2", INFINITY, MAX),
        ("v_mov_b32_e32 v2, 0xffff\nv_cvt_f16_u16_e32 v1, v2", INFINITY, MAX),
        ("v_mov_b32_e32 v2, 1\nv_rcp_f16_e32 v1, v2", INFINITY, MAX),  # of a denormal
        # An infinity that comes of one, or of a division by zero, is no overflow.
        ("v_mov_b32_e32 v2, 0x7f800000\nv_cvt_f16_f32_e32 v1, v2", INFINITY, INFINITY),
        ("v_mov_b32_e32 v2, 0x7c00\nv_mov_b32_e32 v3, 0x7bff\nv_add_f16_e32 v1, v2, v3", INFINITY, INFINITY),
        ("v_mov_b32_e32 v2, 0\nv_rcp_f16_e32 v1, v2", INFINITY, INFINITY),
        ("v_mov_b32_e32 v2, 0\nv_log_f16_e32 v1, v2", INFINITY | 0x8000, INFINITY | 0x8000),
        ("v_mov_b32_e32 v2, 0x3c00\nv_mov_b32_e32 v3, 0\nv_div_fixup_f16 v1, v2, v3, v2", INFINITY, INFINITY),
        ("v_mov_b32_e32 v2, 0x3c00\nv_add_f16_e32 v1, v2, v2", 0x4000, 0x4000),
    ],
)
def test_float16_stops_at_its_largest_number(body, free, held):
    assert low(body) == free
    assert low(SET + body) == held


def test_the_upper_half_stops_there_too():
    body = "v_mov_b32_e32 v2, 0x47ffffff\nv_mov_b32_e32 v1, 7\nv_fma_mixhi_f16 v1, v2, v2, v2"
    for before, half in (("", INFINITY), (SET, MAX)):
        out = np.zeros(64, np.uint32)
        run(before + body + STORE, out)
        assert out[0] == half << 16 | 7


@pytest.mark.parametrize(
    ("target", "conversion", "free", "held", "infinite"),
    [
        ("gfx942", "v_cvt_pk_fp8_f32 v1, v2, v3", 0x8080, 0x7FFF, 0x7F80),
        ("gfx942", "v_cvt_pk_bf8_f32 v1, v2, v3", 0x8080, 0x7FFF, 0x7F80),
        ("gfx950", "v_cvt_pk_fp8_f32 v1, v2, v3", 0x7FFF, 0x7EFE, 0x7E7F),
        ("gfx950", "v_cvt_pk_bf8_f32 v1, v2, v3", 0x7CFC, 0x7BFB, 0x7B7C),
        ("gfx950", "v_cvt_scalef32_pk_fp8_f32 v1, v2, v3, 1.0", 0x7FFF, 0x7EFE, 0x7E7F),
    ],
)
def test_eight_bits_stop_at_their_largest_number(target, conversion, free, held, infinite):
    body = f"v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, {{}}\nv_mov_b32_e32 v3, 0x49800000\n{conversion}"
    finite, unbounded = body.format("0xc9800000"), body.format("0x7f800000")
    assert low(finite, target) == free
    assert low(SET + finite, target) == held
    # What stands for an infinity does so still; the other number is finite.
    assert low(SET + unbounded, target) == infinite


def test_a_branch_on_the_way_in_is_followed():
    body = f"s_branch .LBB0_1\ns_endpgm\n.LBB0_1:\n{SET}v_mov_b32_e32 v2, 0x7bff\nv_add_f16_e32 v1, v2, v2"
    assert low(body) == MAX


def test_what_comes_before_is_free():
    body = f"v_mov_b32_e32 v2, 0x7bff\nv_add_f16_e32 v1, v2, v2\n{SET}"
    assert low(body) == INFINITY


def test_the_register_reads_as_it_was_set():
    read = "s_getreg_b32 s5, hwreg(HW_REG_MODE, 23, 1)\nv_mov_b32_e32 v1, s5"
    assert low(read) == 0
    assert low(SET + read) == 1


@pytest.mark.parametrize(
    "body",
    [
        f"s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .LBB0_1\n{SET}.LBB0_1:\ns_endpgm",  # only some waves set it
        f".LBB0_1:\nv_mov_b32_e32 v1, 0\n{SET}s_cbranch_scc1 .LBB0_1\ns_endpgm",  # and come back with it
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3\ns_endpgm",
        "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 23, 1), 1\ns_endpgm",
        f"{SET}s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0\ns_endpgm",
        f"{SET}v_add_f16_e64 v1, v2, v2 mul:2\ns_endpgm",  # which of the two comes first, the guide does not say
    ],
)
def test_what_is_not_the_same_for_all_that_follows_is_refused(body):
    assert len(load(text(body)).unsupported) == 1


def test_a_write_of_what_it_holds_changes_nothing():
    assert load(text("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15\ns_endpgm")).unsupported == ()
