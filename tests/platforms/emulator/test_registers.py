"""Registers that have not arrived, and registers that nothing has written."""

from __future__ import annotations

import numpy as np
import pytest

from kernelarena.platforms.emulator import FaultKind
from tests.platforms.emulator.assembled import STORE, fault, run

LOAD = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32_e32 v3, 2, v0\ns_waitcnt lgkmcnt(0)\n"
TWO = LOAD + "global_load_dword v1, v3, s[4:5]\nglobal_load_dword v2, v3, s[4:5]\n"


def data() -> np.ndarray:
    return np.arange(64, dtype=np.int32)


def test_a_scalar_load_has_to_be_waited_for():
    body = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32_e32 v1, s4\ns_endpgm"
    found = fault(FaultKind.MISSING_WAIT, body, data())
    assert found.instruction == "v_mov_b32_e32 v1, s4"
    assert found.words == "s4 is used before s_waitcnt lgkmcnt(0) says that it has been loaded"


def test_a_vector_load_has_to_be_waited_for():
    found = fault(FaultKind.MISSING_WAIT, TWO + "v_add_u32_e32 v1, 1, v1\ns_endpgm", data())
    assert found.words.startswith("v1 is used before s_waitcnt vmcnt")


def test_loads_arrive_in_order():
    run(TWO + "s_waitcnt vmcnt(1)\nv_add_u32_e32 v1, 1, v1\ns_endpgm", data())
    assert (
        "v2" in fault(FaultKind.MISSING_WAIT, TWO + "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v1, v2\ns_endpgm", data()).words
    )


def test_no_more_loads_are_outstanding_than_six_bits_count():
    later, used = "global_load_dword v2, v3, s[4:5]\n", "v_add_u32_e32 v1, 1, v1\ns_endpgm"
    fault(FaultKind.MISSING_WAIT, TWO + later * 61 + used, data())
    run(TWO + later * 62 + used, data())


def test_a_register_that_is_still_to_be_loaded_must_not_be_written():
    fault(FaultKind.MISSING_WAIT, TWO + "v_mov_b32_e32 v2, 0\ns_endpgm", data())


def test_a_load_into_a_register_that_another_load_is_on_its_way_to_comes_after_it():
    again = TWO + "global_load_dword v1, v3, s[4:5] offset:4\ns_waitcnt vmcnt({})\nv_mov_b32_e32 v4, v1\ns_endpgm"
    numbers = np.arange(65, dtype=np.int32)
    run(again.format(0), numbers)
    fault(FaultKind.MISSING_WAIT, again.format(1), numbers)
    other = LOAD + "global_load_dword v1, v3, s[4:5]\nds_read_b32 v1, v3\ns_endpgm"
    assert "vmcnt" in fault(FaultKind.MISSING_WAIT, other, numbers, lds=256).words


def test_stores_count_too():
    body = LOAD + "global_load_dword v1, v3, s[4:5]\nglobal_store_dword v3, v0, s[4:5]\n"
    run(body + "s_waitcnt vmcnt(1)\nv_add_u32_e32 v1, 1, v1\ns_endpgm", data())


def test_what_nothing_has_written_must_not_be_stored():
    found = fault(FaultKind.UNINITIALISED_REGISTER, "s_nop 0" + STORE, data())
    assert found.words == "v1 is used, and nothing has written it"


def test_lanes_that_were_not_written_are_told_apart():
    body = "v_cmp_gt_u32_e32 vcc, 40, v0\ns_and_saveexec_b64 s[8:9], vcc\nv_mov_b32_e32 v1, 3\n"
    run(body + STORE, data())
    assert fault(FaultKind.UNINITIALISED_REGISTER, body + "s_mov_b64 exec, s[8:9]" + STORE, data()).where.lane == 40


@pytest.mark.parametrize(
    "harmless",
    [
        "v_mov_b32_e32 v1, v9\nv_mov_b32_e32 v1, 1",
        "v_and_b32_e32 v1, 0, v9",
        "v_mov_b32_e32 v4, 3\ns_mov_b32 s9, 0x03020100\nv_perm_b32 v1, v9, v4, s9",
        "v_mov_b32_e32 v8, 5\nv_mad_u64_u32 v[6:7], s[8:9], v0, v0, v[8:9]\nv_mov_b32_e32 v1, v6",
        "v_cmp_le_u32_e32 vcc, 0, v0\nv_cndmask_b32_e32 v1, v9, v0, vcc",
        "s_or_b32 s9, s10, -1\nv_mov_b32_e32 v1, s9",
        "s_cmp_eq_u32 s2, s2\ns_cselect_b32 s9, 1, s10\nv_mov_b32_e32 v1, s9",
        "v_bfe_u32 v4, v9, 0, 8\nv_lshrrev_b32_e32 v1, 8, v4",
        "v_mov_b32_dpp v4, v9 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf\nv_mov_b32_e32 v1, 0",
        "v_mov_b32_e32 v4, 1.0\nv_fma_mixlo_f16 v1, v4, v4, v4\nv_fma_mixhi_f16 v1, v4, v4, v4",
        "v_mov_b32_e32 v4, 1.0\nv_fma_mixhi_f16 v1, v4, v4, v4\nv_lshrrev_b32_e32 v1, 16, v1",
    ],
)
def test_copies_and_choices_may_hold_what_nobody_wrote(harmless):
    run(harmless + STORE, data())


@pytest.mark.parametrize(
    "harmful",
    [
        "v_add_u32_e32 v1, 1, v9",
        "v_cmp_gt_u32_e32 vcc, 3, v9\nv_cndmask_b32_e64 v1, 0, 1, vcc",
        "v_mov_b32_dpp v1, v9 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
        "v_mul_f32_e32 v1, 0, v9",
        "v_readfirstlane_b32 s9, v9\nv_mov_b32_e32 v1, s9",
        "s_add_i32 s9, s10, 1\nv_mov_b32_e32 v1, s9",
        "v_pk_add_f32 v[4:5], v[8:9], v[8:9]\nv_mov_b32_e32 v1, v5",
        "v_mov_b32_e32 v4, 1.0\nv_fma_mixhi_f16 v1, v4, v4, v4",
        "v_mov_b32_e32 v1, 0\nv_fma_mixhi_f16 v1, v9, v1, v1\nv_lshrrev_b32_e32 v1, 16, v1",
    ],
)
def test_what_follows_from_them_is_undefined(harmful):
    fault(FaultKind.UNINITIALISED_REGISTER, harmful + STORE, data())


def test_a_branch_upon_what_nobody_wrote():
    body = "s_cmp_eq_u32 s10, 0\ns_cbranch_scc1 .LBB0_1\n.LBB0_1:\ns_endpgm"
    assert fault(FaultKind.UNINITIALISED_REGISTER, body).words == "scc is used, and nothing has written it"
