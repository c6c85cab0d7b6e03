"""Accesses outside of what a launch has, and of what nothing has written."""

from __future__ import annotations

import numpy as np
import pytest

from kernelarena.platforms.emulator import FaultKind, Memory
from kernelarena.platforms.emulator.memory import AccessError
from tests.platforms.emulator.assembled import STORE, fault, run

POINTERS = "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v3, 2, v0\ns_waitcnt lgkmcnt(0)\n"
COPY = POINTERS + "global_load_dword v1, v3, s[6:7]\ns_waitcnt vmcnt(0)\nglobal_store_dword v3, v1, s[4:5]\ns_endpgm"
RESOURCE = """
s_load_dwordx4 s[4:7], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_mov_b64 s[8:9], s[6:7]
s_and_b32 s9, s9, 0xffff
s_mov_b32 s10, {records}
s_mov_b32 s11, 0x27000
"""
"""A raw buffer over the second array in s[8:11]."""


def test_a_copy():
    source, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(COPY, out, source)
    assert out.tolist() == source.tolist()


def test_a_read_past_the_end_says_where():
    found = fault(FaultKind.ILLEGAL_READ, COPY, np.zeros(64, np.int32), np.zeros(60, np.int32))
    assert found.instruction == "global_load_dword v1, v3, s[6:7]"
    assert (found.where.workgroup, found.where.wave, found.where.lane) == ((0, 0, 0), 0, 60)
    assert "offset 240 of array 1 (240 bytes)" in found.words


def test_a_write_past_the_end_says_where():
    found = fault(FaultKind.ILLEGAL_WRITE, COPY, np.zeros(60, np.int32), np.zeros(64, np.int32))
    assert found.where.lane == 60


def test_the_second_wave_is_told_from_the_first():
    found = fault(FaultKind.ILLEGAL_READ, COPY, np.zeros(128, np.int32), np.zeros(100, np.int32), block=128)
    assert (found.where.wave, found.where.lane) == (1, 36)


def test_output_that_nothing_has_written_is_not_to_be_read():
    source = np.zeros(64, np.int32)
    found = fault(FaultKind.UNINITIALISED_MEMORY, COPY, np.zeros(64, np.int32), source, unwritten=(1,))
    assert found.where.lane == 0
    assert "4 bytes at offset 0 of array 1 were never written" in found.words


def test_what_the_kernel_has_written_itself_may_be_read():
    out = np.zeros(64, np.int32)
    run(
        "v_mov_b32_e32 v1, v0"
        + STORE.replace("s_endpgm", "s_waitcnt vmcnt(0)\nglobal_load_dword v2, v31, s[4:5]\ns_endpgm"),
        out,
        unwritten=(0,),
    )


def test_arguments_may_not_be_written():
    body = "v_mov_b32_e32 v1, 0\nglobal_store_dword v1, v1, s[0:1]\ns_endpgm"
    assert "kernel arguments may not be written" in fault(FaultKind.ILLEGAL_WRITE, body).words


def test_a_buffer_reads_zero_beyond_its_records_and_drops_writes():
    source, out = np.arange(1, 65, dtype=np.int32), np.full(64, -1, np.int32)
    body = (
        RESOURCE.format(records=40)
        + """
        v_lshlrev_b32_e32 v3, 2, v0
        buffer_load_dword v1, v3, s[8:11], 0 offen
        s_waitcnt vmcnt(0)
        buffer_store_dword v0, v3, s[8:11], 0 offen
        global_store_dword v3, v1, s[4:5]
        s_endpgm
    """
    )
    run(body, out, source)
    assert out.tolist() == [*range(1, 11), *[0] * 54]
    assert source.tolist() == [*range(10), *range(11, 65)]


def test_a_wide_buffer_load_is_cut_at_the_last_record():
    source, out = np.arange(1, 257, dtype=np.int32), np.zeros(64, np.int32)
    body = (
        RESOURCE.format(records="0x28")
        + """
        v_lshlrev_b32_e32 v3, 4, v0
        buffer_load_dwordx4 v[4:7], v3, s[8:11], 0 offen
        v_lshlrev_b32_e32 v3, 2, v0
        s_waitcnt vmcnt(0)
        v_add3_u32 v1, v5, v6, v7
        global_store_dword v3, v1, s[4:5]
        s_endpgm
    """
    )
    run(body, out, source)
    assert out[:4].tolist() == [2 + 3 + 4, 6 + 7 + 8, 10, 0]


def test_a_buffer_that_promises_more_than_there_is_faults():
    body = (
        RESOURCE.format(records="0x7ffffffe")
        + """
        v_lshlrev_b32_e32 v3, 2, v0
        buffer_load_dword v1, v3, s[8:11], 0 offen
        s_endpgm
    """
    )
    assert fault(FaultKind.ILLEGAL_READ, body, np.zeros(1, np.int32), np.zeros(63, np.int32)).where.lane == 63


@pytest.mark.parametrize(
    ("form", "expected"),
    [("ubyte", 0xF1), ("sbyte", -15), ("ushort", 0x83F1), ("sshort", 0x83F1 - 0x10000), ("dword", 0x123483F1)],
)
def test_narrow_loads_extend(form, expected):
    source, out = np.array([0x123483F1], np.uint32), np.zeros(64, np.int32)
    body = POINTERS + f"v_mov_b32_e32 v4, 0\nglobal_load_{form} v1, v4, s[6:7]\ns_waitcnt vmcnt(0)\n"
    run(body + "global_store_dword v3, v1, s[4:5]\ns_endpgm", out, source)
    assert out[0] == expected


def test_unaligned_dwords_are_allowed_and_unaligned_atomics_are_not():
    source, out = np.arange(80, dtype=np.uint8), np.zeros(64, np.int32)
    body = POINTERS + "v_mov_b32_e32 v4, 5\nglobal_load_dword v1, v4, s[6:7]\ns_waitcnt vmcnt(0)\n"
    run(body + "global_store_dword v3, v1, s[4:5]\ns_endpgm", out, source)
    assert out[0] == int.from_bytes(bytes([5, 6, 7, 8]), "little")
    atomic = POINTERS + "v_mov_b32_e32 v4, 5\nglobal_atomic_add v4, v0, s[6:7]\ns_endpgm"
    assert fault(FaultKind.MISALIGNED, atomic, out, source).where.lane == 0


def test_atomics_add_up_and_return_what_was_there():
    total, out = np.array([100], np.int32), np.zeros(128, np.int32)
    body = (
        POINTERS
        + """
        v_mov_b32_e32 v4, 0
        v_mov_b32_e32 v5, 2
        global_atomic_add v1, v4, v5, s[6:7] sc0
        s_waitcnt vmcnt(0)
        global_store_dword v3, v1, s[4:5]
        s_endpgm
    """
    )
    run(body, out, total, block=128)
    assert total[0] == 100 + 2 * 128
    assert sorted(out.tolist()) == list(range(100, 100 + 256, 2))


def test_lanes_have_scratch_of_their_own():
    out = np.zeros(64, np.int32)
    body = """
        scratch_store_dword off, v0, off offset:4
        v_mov_b32_e32 v2, 4
        s_waitcnt vmcnt(0)
        scratch_load_dword v1, v2, off
        s_waitcnt vmcnt(0)
    """
    run(body + STORE, out, scratch=8)
    assert out.tolist() == list(range(64))
    found = fault(FaultKind.ILLEGAL_WRITE, "scratch_store_dword off, v0, off offset:8\ns_endpgm", scratch=8)
    assert found.where.lane == 0


def test_words_may_hold_the_last_narrow_element_and_what_lies_behind_it():
    """As compilers exchange a word for the sake of two bytes in it; two bytes behind the end are beyond it still."""
    held = np.arange(64, dtype=np.uint16)
    memory, out = Memory(), np.zeros(64, np.uint32)
    memory.add(held.ctypes.data, 126, "x, float16[63]", slack=2)
    memory.add(out.ctypes.data, out.nbytes, "out")
    last = held.ctypes.data + 124
    assert memory.read(np.array([last], np.int64), 4).tolist() == [[62 | 63 << 16]]
    memory.write(np.array([last], np.int64), np.array([[7 | 63 << 16]], np.uint32), 4)
    assert held[-2:].tolist() == [7, 63]
    for address, size in ((last + 2, 2), (last + 4, 4), (last + 2, 4), (last, 8)):
        with pytest.raises(AccessError, match=r"of x, float16\[63\]"):
            memory.read(np.array([address, out.ctypes.data], np.int64), size)
