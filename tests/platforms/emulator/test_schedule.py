"""Waves part at branches, meet again, wait at barriers, and do not run for ever."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator import FaultKind
from tests.platforms.emulator.assembled import STORE, fault, run

WAVE = "v_lshrrev_b32_e32 v2, 6, v0\nv_readfirstlane_b32 s6, v2\n"
"""Puts the wave's number within its workgroup into s6."""


def test_waves_go_different_ways_and_meet():
    out = np.zeros(192, np.int32)
    tally = run(
        WAVE
        + """
        v_mov_b32_e32 v1, 7
        s_cmp_eq_u32 s6, 1
        s_cbranch_scc0 .LBB0_1
        v_mov_b32_e32 v1, 9
        .LBB0_1:
        v_add_u32_e32 v1, 1, v1
        """
        + STORE,
        out,
        block=192,
    )
    assert out.reshape(3, 64).T.tolist() == [[8, 10, 8]] * 64
    assert tally.instructions["memory"] == 3 * 2  # a load and a store each, together or not


def test_each_wave_loops_as_often_as_it_wants():
    out = np.zeros(256, np.int32)
    run(
        WAVE
        + """
        v_mov_b32_e32 v1, 0
        s_add_i32 s6, s6, 1
        .LBB0_1:
        v_add_u32_e32 v1, 3, v1
        s_add_i32 s6, s6, -1
        s_cmp_lg_u32 s6, 0
        s_cbranch_scc1 .LBB0_1
        """
        + STORE,
        out,
        block=256,
    )
    assert out.reshape(4, 64)[:, 5].tolist() == [3, 6, 9, 12]


def test_lanes_that_are_disabled_keep_their_registers():
    out = np.zeros(64, np.int32)
    run(
        """
        v_mov_b32_e32 v1, 1
        v_cmp_gt_u32_e32 vcc, 10, v0
        s_and_saveexec_b64 s[8:9], vcc
        v_mov_b32_e32 v1, 2
        s_or_b64 exec, exec, s[8:9]
        """
        + STORE,
        out,
    )
    assert out.tolist() == [2] * 10 + [1] * 54


def test_a_last_wave_that_is_not_full_writes_no_more_than_it_should():
    out = np.full(128, -1, np.int32)
    run("v_mov_b32_e32 v1, v0" + STORE, out[:100], block=100)
    assert out.tolist() == [*range(100), *[-1] * 28]


def test_all_workgroups_run_also_more_than_fit_into_a_batch():
    out = np.zeros(1000, np.int32)
    run(
        """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_lshl_b32 s3, s2, 2
        v_mov_b32_e32 v1, s3
        v_mov_b32_e32 v2, s2
        v_cmp_eq_u32_e32 vcc, 0, v0
        s_and_saveexec_b64 s[8:9], vcc
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v2, s[4:5]
        s_endpgm
        """,
        out,
        grid=1000,
    )
    assert out.tolist() == list(range(1000))


def test_a_barrier_holds_waves_until_all_have_come():
    out = np.zeros(128, np.int32)
    body = """
        v_lshlrev_b32_e32 v3, 2, v0
        ds_write_b32 v3, v0
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_xor_b32_e32 v3, 0x1fc, v3
        ds_read_b32 v1, v3
        s_waitcnt lgkmcnt(0)
        """
    run(body + STORE, out, block=128, lds=512)
    assert out.tolist() == list(range(127, -1, -1))


def test_a_wave_that_ends_without_the_barrier():
    found = fault(
        FaultKind.DIVERGENT_BARRIER,
        WAVE + "s_cmp_eq_u32 s6, 1\ns_cbranch_scc1 .LBB0_1\n.loc\t1 12 1\ns_barrier\n.LBB0_1:\ns_endpgm",
        block=128,
    )
    assert str(found.place) == "kernel.py:12"
    assert "wave 1, which has ended" in found.words


def test_waves_at_two_barriers():
    found = fault(
        FaultKind.DIVERGENT_BARRIER,
        WAVE
        + "s_cmp_eq_u32 s6, 1\ns_cbranch_scc1 .LBB0_1\n.loc\t1 12 1\ns_barrier\ns_endpgm\n"
        + ".LBB0_1:\n.loc\t1 20 1\ns_barrier\ns_endpgm",
        block=128,
    )
    assert "another barrier, kernel.py:20" in found.words


def test_one_barrier_that_the_compiler_has_made_two_of_is_one():
    run(
        WAVE
        + "s_cmp_eq_u32 s6, 1\ns_cbranch_scc1 .LBB0_1\n.loc\t1 12 1\ns_barrier\ns_endpgm\n"
        + ".LBB0_1:\n.loc\t1 12 1\ns_barrier\ns_endpgm",
        block=128,
    )


FLAG = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    s_cmp_eq_u32 {who}, 1
    s_waitcnt lgkmcnt(0)
    s_cbranch_scc1 .LBB0_2
    .LBB0_1:
    global_load_dword v5, v3, s[4:5]
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s7, v5
    s_cmp_eq_u32 s7, 0
    s_cbranch_scc1 .LBB0_1
    s_endpgm
    .LBB0_2:
    {before}
    global_store_dword v3, v4, s[4:5]
    s_endpgm
"""
"""All wait in a loop for what one does further down."""


def test_waves_may_wait_for_one_another_in_a_loop():
    run(WAVE + FLAG.format(who="s6", before="s_nop 0"), np.zeros(1, np.int32), block=256, budget=100_000)


def test_a_workgroup_gets_over_its_barrier_while_others_wait_for_it():
    run(FLAG.format(who="s2", before="s_barrier"), np.zeros(1, np.int32), grid=3, block=128, budget=100_000)


def test_all_workgroups_of_a_grid_that_fits_a_chip_are_at_work_together():
    last = FLAG.format(who="s2", before="s_nop 0").replace("s_cmp_eq_u32 s2, 1", "s_cmp_eq_u32 s2, 103")
    run(last, np.zeros(1, np.int32), grid=104, block=1024, budget=100_000)
    # A chip may not even have begun with one more.
    fault(FaultKind.ENDLESS, last.replace("103", "104"), np.zeros(1, np.int32), grid=105, block=1024, budget=1_000)


def test_a_loop_without_end():
    found = fault(FaultKind.ENDLESS, ".loc\t1 5 1\n.LBB0_1:\ns_nop 0\ns_branch .LBB0_1\ns_endpgm")
    assert found.words == "more than 10000 instructions"
    assert str(found.place) == "kernel.py:5"


def test_a_trap_is_the_kernel_giving_up():
    assert "gives up" in fault(FaultKind.TRAP, "s_trap 2\ns_endpgm").words
