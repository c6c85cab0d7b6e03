"""What encodings do to operands: moves between lanes, parts of registers, signs, constants, EXEC."""

from __future__ import annotations

import numpy as np
import pytest

from tests.platforms.emulator.assembled import STORE, run

LANES = list(range(64))
BOUND, KEPT = "row_mask:0xf bank_mask:0xf bound_ctrl:0", "row_mask:0xf bank_mask:0xf"


def result(body: str, **options) -> list[int]:
    """Return v1 of each lane."""
    out = np.zeros(64, np.int32)
    run(body + STORE, out, **options)
    return out.tolist()


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("quad_perm:[3,2,1,0]", lambda lane: lane // 4 * 4 + 3 - lane % 4),
        ("row_shr:3", lambda lane: lane - 3 if lane % 16 >= 3 else None),
        ("row_shl:1", lambda lane: lane + 1 if lane % 16 < 15 else None),
        ("row_ror:4", lambda lane: lane // 16 * 16 + (lane % 16 - 4) % 16),
        ("row_mirror", lambda lane: lane // 16 * 16 + 15 - lane % 16),
        ("row_half_mirror", lambda lane: lane // 8 * 8 + 7 - lane % 8),
        ("row_bcast:15", lambda lane: lane // 16 * 16 - 1 if lane >= 16 else None),
        ("row_bcast:31", lambda lane: 31 if lane >= 32 else None),
        ("row_newbcast:5", lambda lane: lane // 16 * 16 + 5),
        ("wave_shr:1", lambda lane: lane - 1 if lane else None),
        ("wave_rol:1", lambda lane: (lane + 1) % 64),
    ],
)
def test_lanes_take_from_other_lanes(pattern, source):
    zero = [0 if source(lane) is None else source(lane) for lane in LANES]
    assert result(f"v_mov_b32_e32 v1, -1\nv_mov_b32_dpp v1, v0 {pattern} {BOUND}") == zero
    kept = [-1 if source(lane) is None else source(lane) for lane in LANES]
    assert result(f"v_mov_b32_e32 v1, -1\nv_mov_b32_dpp v1, v0 {pattern} {KEPT}") == kept


def test_a_register_may_move_into_itself():
    assert result(f"v_mov_b32_e32 v1, v0\nv_add_u32_dpp v1, v1, v1 row_shr:1 {BOUND}") == [
        lane + (lane - 1 if lane % 16 else 0) for lane in LANES
    ]


def test_masks_of_rows_and_banks_leave_lanes_as_they_are():
    moved = result("v_mov_b32_e32 v1, -1\nv_mov_b32_dpp v1, v0 quad_perm:[0,1,2,3] row_mask:0xa bank_mask:0x3")
    assert moved == [lane if lane // 16 in (1, 3) and lane % 16 < 8 else -1 for lane in LANES]


def test_lanes_that_are_disabled_are_not_read():
    body = "v_mov_b32_e32 v1, -1\ns_mov_b64 exec, 0xaa\nv_mov_b32_dpp v1, v0 quad_perm:[0,0,2,2] {}\ns_mov_b64 exec, -1"
    assert result(body.format(BOUND))[:8] == [-1, 0, -1, 0, -1, 0, -1, 0]
    assert result(body.format(KEPT))[:8] == [-1] * 8


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("v_mov_b32_sdwa v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1", 0x83),
        ("v_mov_b32_sdwa v1, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1", -0x7D),
        ("v_mov_b32_sdwa v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", 0x55_F1_55_55),
        ("v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0", 0x83F1_0000 - (1 << 32)),
        ("v_or_b32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_3", 0x1234 | 0x70),
    ],
)
def test_parts_of_registers(instruction, expected):
    registers = "v_mov_b32_e32 v1, 0x55555555\nv_mov_b32_e32 v2, 0x123483f1\nv_mov_b32_e32 v3, 0x70000000\n"
    assert result(registers + instruction) == [expected] * 64


def bits(value: float, dtype=np.float32) -> int:
    return int(np.array([value], dtype).view(f"i{np.dtype(dtype).itemsize}")[0])


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("v_add_f32_e32 v1, 1.0, v2", bits(-2.5)),
        ("v_add_f32_e64 v1, -v2, 1.0", bits(4.5)),
        ("v_add_f32_e64 v1, -|v2|, 0.5", bits(-3.0)),
        ("v_mul_f32_e64 v1, v2, v2 mul:2", bits(24.5)),
        ("v_mul_f32_e64 v1, v2, v2 div:2", bits(6.125)),
        ("v_mul_f32_e64 v1, v2, v2 clamp", bits(1.0)),
        ("v_mul_f32_e64 v1, v2, 1.0 clamp", 0),
        ("v_mul_f32_e32 v1, 0x40490fdb, v2", bits(np.float32(-3.5) * np.float32(np.pi))),
        ("v_mov_b32_e32 v1, 0.5", bits(0.5)),
        ("v_add_u32_e32 v1, -16, v0\nv_sub_u32_e32 v1, v1, v0", -16),
        ("v_cndmask_b32_e64 v1, 0, -v2, -1", bits(3.5)),
    ],
)
def test_signs_constants_and_what_is_done_to_results(instruction, expected):
    assert result("v_mov_b32_e32 v2, 0xc0600000\n" + instruction) == [expected] * 64  # -3.5


def test_a_literal_of_a_wide_float_is_its_high_half():
    body = "v_add_f64 v[4:5], 0x40080000, 1.0\nv_mov_b32_e32 v1, v5"
    assert result(body) == [bits(4.0, np.float64) >> 32] * 64


@pytest.mark.parametrize("modifiers", ["", " op_sel_hi:[1,0]", " op_sel:[0,1] op_sel_hi:[1,1]"])
def test_both_of_a_pair_of_floats_get_a_constant(modifiers):
    body = "v_mov_b32_e32 v2, 2.0\nv_mov_b32_e32 v3, 4.0\n"
    for register, expected in (("v4", 3.0), ("v5", 5.0)):
        after = f"v_mov_b32_e32 v1, {register}"
        assert result(f"{body}v_pk_add_f32 v[4:5], v[2:3], 1.0{modifiers}\n{after}") == [bits(expected)] * 64


def test_the_high_half_of_a_pair_of_halves_gets_no_constant():
    """But where op_sel_hi has it take the low one."""
    two, three = (bits(value, np.float16) for value in (2, 3))
    body = "v_mov_b32_e32 v2, 0x40004000\nv_pk_add_f16 v1, v2, 1.0"
    assert result(body) == [two << 16 | three] * 64
    assert result(f"{body} op_sel_hi:[1,0]") == [three << 16 | three] * 64


def test_halves_are_chosen_and_kept():
    body = "v_mov_b32_e32 v2, 0x40003c00\nv_mov_b32_e32 v3, 0x44004200\n"  # 2, 1 and 4, 3
    one, two, three, four, six, eight = (bits(value, np.float16) for value in (1, 2, 3, 4, 6, 8))
    assert one == 0x3C00
    packed = "v_pk_mul_f16 v1, v2, v3{}"
    assert result(body + packed.format("")) == [eight << 16 | three] * 64
    assert result(body + packed.format(" op_sel:[1,0] op_sel_hi:[1,0]")) == [six << 16 | six] * 64
    assert result(body + packed.format(" neg_lo:[1,0] neg_hi:[1,1]")) == [eight << 16 | three | 0x8000] * 64
    high = "v_mov_b32_e32 v1, 0x1111\nv_fma_f16 v1, v2, v3, 0 op_sel:[1,1,0,1]"
    assert result(body + high) == [eight << 16 | 0x1111] * 64
    assert two != four


def test_a_comparison_is_false_in_lanes_that_are_disabled():
    body = """
        s_mov_b64 s[8:9], -1
        s_mov_b64 exec, 0xff
        v_cmp_gt_u32_e64 s[8:9], 4, v0
        s_mov_b64 exec, -1
        v_mov_b32_e32 v1, s8
        v_add_u32_e32 v1, s9, v1
    """
    assert result(body) == [15] * 64


def test_the_first_lane_is_the_first_that_is_enabled():
    body = "s_mov_b64 exec, 0xf0\nv_readfirstlane_b32 s8, v0\nv_readlane_b32 s9, v0, 60\ns_mov_b64 exec, -1\n"
    assert result(body + "s_add_i32 s8, s8, s9\nv_mov_b32_e32 v1, s8") == [64] * 64


def test_a_lane_is_written():
    assert result("v_mov_b32_e32 v1, v0\ns_movk_i32 s8, 0x7b\nv_writelane_b32 v1, s8, 5")[4:7] == [4, 123, 6]


@pytest.mark.parametrize(
    ("name", "expected"), [("and", 0x0F & 0x3C), ("or", 0x0F | 0x3C), ("xor", 0x33), ("andn2", 0x30)]
)
def test_exec_is_saved_and_changed(name, expected):
    body = f"s_mov_b64 exec, 0x0f\ns_mov_b64 s[8:9], 0x3c\ns_{name}_saveexec_b64 s[10:11], s[8:9]\n"
    body += "s_mov_b64 s[12:13], exec\ns_mov_b64 exec, -1\n"
    assert result(body + "v_mov_b32_e32 v1, s12") == [expected] * 64
    assert result(body + "v_mov_b32_e32 v1, s10") == [0x0F] * 64
