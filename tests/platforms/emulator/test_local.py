"""Local memory: bounds, races, what nobody wrote, and moves between lanes."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator import FaultKind
from tests.platforms.emulator.assembled import STORE, fault, run

NEIGHBOUR = "v_lshlrev_b32_e32 v3, 2, v0\nv_xor_b32_e32 v4, 0x100, v3\n"
"""v3 is a work-item's own cell, v4 that of one in the other of two waves."""
BARRIER = "s_waitcnt lgkmcnt(0)\ns_barrier\n"


def exchange(between: str) -> str:
    return (
        NEIGHBOUR + "ds_write_b32 v3, v0\n" + between + ".loc\t1 9 1\nds_read_b32 v1, v4\ns_waitcnt lgkmcnt(0)" + STORE
    )


def test_an_exchange_with_a_barrier():
    out = np.zeros(128, np.int32)
    run(exchange(BARRIER), out, block=128, lds=512)
    assert out.tolist() == [*range(64, 128), *range(64)]


def test_an_exchange_without_one_is_a_race():
    found = fault(FaultKind.LDS_RACE, exchange(""), np.zeros(128, np.int32), block=128, lds=512)
    assert found.instruction == "ds_read_b32 v1, v4"
    assert str(found.place) == "kernel.py:9"
    assert "which another wave has written, with no barrier after s_waitcnt between" in found.words


def test_a_barrier_does_not_help_a_write_that_was_not_waited_for():
    found = fault(FaultKind.LDS_RACE, exchange("s_barrier\n"), np.zeros(128, np.int32), block=128, lds=512)
    assert found.instruction == "ds_read_b32 v1, v4"
    later = exchange("s_barrier\n" + BARRIER)
    run(later, np.zeros(128, np.int32), block=128, lds=512)


def test_within_one_wave_there_is_no_race():
    out = np.zeros(64, np.int32)
    run(exchange("").replace("0x100", "0x80"), out, lds=256)
    assert out.tolist() == [*range(32, 64), *range(32)]


def test_to_write_what_another_wave_has_read_is_a_race():
    body = exchange(BARRIER).replace("s_endpgm", "v_add_u32_e32 v5, 1, v0\nds_write_b32 v3, v5\ns_endpgm")
    found = fault(FaultKind.LDS_RACE, body, np.zeros(128, np.int32), block=128, lds=512)
    assert "which another wave has read" in found.words


def test_waves_that_write_the_same_value_to_the_same_cell_do_not_race():
    same = "v_and_b32_e32 v2, 63, v0\nv_lshlrev_b32_e32 v3, 2, v2\nds_write_b32 v3, {}\ns_endpgm"
    run(same.format("v2"), block=128, lds=256)
    assert "as another wave does" in fault(FaultKind.LDS_RACE, same.format("v0"), block=128, lds=256).words


def test_neighbouring_halves_of_a_word_are_not_one_cell():
    body = """
        v_lshrrev_b32_e32 v2, 6, v0
        v_and_b32_e32 v4, 63, v0
        v_lshlrev_b32_e32 v3, 2, v4
        v_lshl_add_u32 v3, v2, 1, v3
        ds_write_b16 v3, v0
        ds_read_u16 v5, v3
        s_endpgm
    """
    run(body, block=128, lds=256)


def test_atomics_of_different_waves_do_not_race():
    out = np.zeros(128, np.int32)
    body = """
        v_mov_b32_e32 v3, 0
        v_mov_b32_e32 v2, 0
        ds_write_b32 v3, v2
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_mov_b32_e32 v2, 1
        ds_add_u32 v3, v2
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b32 v1, v3
        s_waitcnt lgkmcnt(0)
    """
    run(body + STORE, out, block=128, lds=4)
    assert out.tolist() == [128] * 128


def test_beyond_the_workgroups_memory():
    found = fault(FaultKind.LDS_OUT_OF_BOUNDS, NEIGHBOUR + "ds_write_b32 v3, v0 offset:16\ns_endpgm", lds=256)
    assert found.where.lane == 60
    assert found.words == "4 bytes of local memory at 256; the workgroup has 256"


def test_workgroups_do_not_see_each_others_memory():
    out = np.zeros(64, np.int32)
    run(
        exchange("")
        .replace("0x100", "0x80")
        .replace("ds_write_b32 v3, v0", "v_add_u32_e32 v5, s2, v0\nds_write_b32 v3, v5"),
        out,
        lds=256,
        grid=3,
    )
    assert out.tolist() in ([[*range(32 + n, 64 + n), *range(n, 32 + n)] for n in range(3)])


def test_cells_that_nobody_wrote_may_be_read_but_not_used():
    body = NEIGHBOUR + "ds_read_b32 v1, v3\ns_waitcnt lgkmcnt(0)\n"
    run(body + "v_mov_b32_e32 v1, 0" + STORE, np.zeros(64, np.int32), lds=256)
    found = fault(FaultKind.UNINITIALISED_REGISTER, body + STORE, np.zeros(64, np.int32), lds=256)
    assert found.instruction == "global_store_dword v31, v1, s[4:5]"


def test_pairs_and_wide_accesses():
    out = np.zeros(64, np.int32)
    body = """
        v_lshlrev_b32_e32 v3, 3, v0
        v_add_u32_e32 v5, 100, v0
        ds_write2_b32 v3, v0, v5 offset1:1
        ds_read_b64 v[6:7], v3
        s_waitcnt lgkmcnt(0)
        v_sub_u32_e32 v1, v7, v6
    """
    run(body + STORE, out, lds=512)
    assert out.tolist() == [100] * 64


def test_moves_between_lanes():
    reverse = "v_sub_u32_e32 v2, 63, v0\nv_lshlrev_b32_e32 v2, 2, v2\n"
    for move, expected in (
        (reverse + "ds_bpermute_b32 v1, v2, v0", list(range(63, -1, -1))),
        (reverse + "ds_permute_b32 v1, v2, v0", list(range(63, -1, -1))),
        ("ds_swizzle_b32 v1, v0 offset:swizzle(SWAP,16)", [lane ^ 16 for lane in range(64)]),
        (
            'ds_swizzle_b32 v1, v0 offset:swizzle(BITMASK_PERM,"0ip10")',
            [lane & 32 | (lane & 15 ^ 8) & 12 | 2 for lane in range(64)],
        ),
        ("ds_swizzle_b32 v1, v0 offset:0x801f", [lane // 4 * 4 + (3, 3, 1, 0)[lane % 4] for lane in range(64)]),
    ):
        out = np.zeros(64, np.int32)
        run(move + "\ns_waitcnt lgkmcnt(0)\n" + STORE, out)
        assert out.tolist() == expected, move


def test_a_load_past_the_registers_lands_where_m0_says():
    source, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    body = """
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        s_mov_b32 m0, 0x100
        v_lshlrev_b32_e32 v3, 2, v0
        s_waitcnt lgkmcnt(0)
        global_load_lds_dword v3, s[6:7]
        s_waitcnt vmcnt(0)
        ds_read_b32 v1, v3 offset:256
        s_waitcnt lgkmcnt(0)
        global_store_dword v3, v1, s[4:5]
        s_endpgm
    """
    run(body, out, source, lds=512)
    assert out.tolist() == source.tolist()


def test_loads_past_the_registers_reach_all_of_a_larger_local_memory():
    source, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    body = """
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_lshlrev_b32_e32 v3, 2, v0
        v_add_u32_e32 v4, 0x10100, v3
        s_mov_b32 m0, 0x10100
        s_waitcnt lgkmcnt(0)
        global_load_lds_dword v3, s[6:7]
        s_waitcnt vmcnt(0)
        ds_read_b32 v1, v4
        s_waitcnt lgkmcnt(0)
        global_store_dword v3, v1, s[4:5]
        s_endpgm
    """
    run(body, out, source, lds=0x11000, target="gfx950")
    assert out.tolist() == source.tolist()
