"""What a wave finds when it begins, and what it can reach besides the tensors."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from kernelarena.errors import InputError
from kernelarena.platforms.emulator import Memory, launch, load
from kernelarena.platforms.emulator.abi import dispatch_packet, kernarg_segment
from kernelarena.platforms.emulator.assembly import Argument, KernelText
from tests.platforms.emulator.assembled import STORE, run, text

LAST = "\t\t.amdhsa_next_free_vgpr"
"""Of two directives of one name the later counts."""


def launched(body: str, out: np.ndarray, grid, block, *directives: str) -> None:
    changed = text(body).replace(LAST, "".join(f"\t\t.amdhsa_{one}\n" for one in directives) + LAST)
    memory = Memory()
    memory.add(out.ctypes.data, out.nbytes, "out")
    program = load(changed)
    assert program.unsupported == ()
    launch(program, "kernel", grid, block, [out.ctypes.data], memory)


def test_work_items_are_numbered_in_three_dimensions():
    out = np.zeros(64, np.int32)
    body = """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_bfe_u32 v1, v0, 10, 10
        v_bfe_u32 v2, v0, 20, 10
        v_and_b32_e32 v3, 0x3ff, v0
        v_mul_u32_u24_e32 v4, 8, v2
        v_lshl_add_u32 v4, v1, 2, v4
        v_add_lshl_u32 v4, v4, v3, 2
        v_lshl_or_b32 v5, v2, 8, v3
        v_lshl_or_b32 v5, v1, 4, v5
        s_waitcnt lgkmcnt(0)
        global_store_dword v4, v5, s[4:5]
        s_endpgm
    """
    launched(body, out, (1, 1, 1), (4, 2, 3), "system_vgpr_workitem_id 2")
    assert out[:24].tolist() == [x | y << 4 | z << 8 for z in range(3) for y in range(2) for x in range(4)]


def test_workgroups_are_numbered_in_three_dimensions():
    out = np.zeros(24, np.int32)
    body = """
        s_load_dwordx2 s[6:7], s[0:1], 0x0
        s_mul_i32 s8, s4, 3
        s_add_i32 s8, s8, s3
        s_lshl_b32 s8, s8, 2
        s_add_i32 s8, s8, s2
        v_mov_b32_e32 v2, s8
        s_lshl_b32 s8, s8, 2
        v_mov_b32_e32 v1, s8
        v_cmp_eq_u32_e32 vcc, 0, v0
        s_and_saveexec_b64 s[10:11], vcc
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v2, s[6:7]
        s_endpgm
    """
    launched(body, out, (4, 3, 2), (64, 1, 1), "system_sgpr_workgroup_id_y 1", "system_sgpr_workgroup_id_z 1")
    assert out.tolist() == list(range(24))


def test_arguments_are_preloaded():
    out = np.zeros(64, np.int32)
    body = "v_lshlrev_b32_e32 v1, 2, v0\nglobal_store_dword v1, v0, s[2:3]\ns_endpgm"
    preload = "user_sgpr_kernarg_preload_length 2", "user_sgpr_count 4"
    launched(body, out, (1, 1, 1), (64, 1, 1), *preload)
    assert out.tolist() == list(range(64))


def test_the_kernarg_segment_has_what_the_metadata_says():
    arguments = (
        Argument(0, 8, "global_buffer"), Argument(8, 4, "by_value"), Argument(12, 4, "by_value"),
        Argument(16, 4, "hidden_block_count_x"), Argument(20, 2, "hidden_group_size_y"),
        Argument(22, 2, "hidden_grid_dims"), Argument(24, 4, "hidden_dynamic_lds_size"), Argument(32, 8, "hidden_none"),
    )  # fmt: skip
    kernel = KernelText("kernel", 0, {"kernarg_size": 40}, arguments, 1024)
    made = kernarg_segment(kernel, [1 << 40, 1.5, -1], (7, 1, 1), (64, 2, 1), 512)
    assert made == struct.pack("<QfiIHHI4xQ", 1 << 40, 1.5, -1, 7, 2, 2, 512, 0)
    left_out = kernarg_segment(kernel, [3], (1, 1, 1), (64, 1, 1), 0)
    assert left_out[:16] == struct.pack("<QQ", 3, 0)
    with pytest.raises(InputError, match="of 4 bytes is given 3"):
        kernarg_segment(kernel, [0, b"abc"], (1, 1, 1), (64, 1, 1), 0)


def test_the_dispatch_packet_has_the_shape_of_the_launch():
    packet = dispatch_packet((3, 2, 1), (64, 4, 1), 0x1234)
    assert len(packet) == 64
    assert struct.unpack_from("<HHHxxIII", packet, 4) == (64, 4, 1, 192, 8, 1)
    assert struct.unpack_from("<Q", packet, 40) == (0x1234,)


CALL = """
s_getpc_b64 s[8:9]
s_add_u32 s8, s8, twice@rel32@lo+4
s_addc_u32 s9, s9, twice@rel32@hi+12
v_mov_b32_e32 v1, v0
s_swappc_b64 s[30:31], s[8:9]
s_swappc_b64 s[30:31], s[8:9]
"""
TABLE = """
s_getpc_b64 s[8:9]
s_add_u32 s8, s8, table@rel32@lo+4
s_addc_u32 s9, s9, table@rel32@hi+12
v_and_b32_e32 v2, 3, v0
v_lshlrev_b32_e32 v2, 1, v2
global_load_ushort v1, v2, s[8:9]
s_waitcnt vmcnt(0)
"""


def test_functions_are_called_and_return():
    out = np.zeros(64, np.int32)
    run(CALL + STORE + "twice:\nv_lshlrev_b32_e32 v1, 1, v1\ns_setpc_b64 s[30:31]", out)
    assert out.tolist() == [4 * lane for lane in range(64)]


def test_constants_of_the_program_can_be_read():
    out = np.zeros(64, np.int32)
    memory = Memory()
    memory.add(out.ctypes.data, out.nbytes, "out")
    data = '\t.section\t.rodata,"a",@progbits\ntable:\n\t.short\t10\n\t.short\t20\n\t.short\t30\n\t.zero\t2\n'
    whole = text(TABLE + STORE).replace("\t.section\t.rodata", data + "\t.section\t.rodata", 1)
    launch(load(whole), "kernel", (1, 1, 1), (64, 1, 1), [out.ctypes.data], memory)
    assert out[:4].tolist() == [10, 20, 30, 0]
