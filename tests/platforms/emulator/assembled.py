"""Small kernels in assembly text, as a compiler would hand them over, and their launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelarena.platforms.emulator import Fault, FaultKind, Memory, Program, Tally, launch, load

_TEXT = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"
\t.text
\t.file\t1 "/somewhere" "kernel.py"
kernel:
{body}
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel kernel
\t\t.amdhsa_group_segment_fixed_size {lds}
\t\t.amdhsa_private_segment_fixed_size {scratch}
\t\t.amdhsa_kernarg_size {kernarg}
\t\t.amdhsa_user_sgpr_count 2
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_system_sgpr_workgroup_id_x 1
\t\t.amdhsa_system_vgpr_workitem_id 0
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_accum_offset 32
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .name: kernel
    .max_flat_workgroup_size: 1024
    .args:
{arguments}
...
\t.end_amdgpu_metadata
"""


def text(body: str, *, pointers: int = 1, lds: int = 0, scratch: int = 0, target: str = "gfx942") -> str:
    """Return a file with one kernel, whose arguments are pointers; s[0:1] leads to them, and s2 is the workgroup."""
    lines = "\n".join(line if line.strip().endswith(":") else f"\t{line.strip()}" for line in body.splitlines())
    arguments = "\n".join(
        f"      - {{.offset: {8 * number}, .size: 8, .value_kind: global_buffer}}" for number in range(pointers)
    )
    return _TEXT.format(target=target, body=lines, lds=lds, scratch=scratch, kernarg=8 * pointers, arguments=arguments)


def program(body: str, **options: Any) -> Program:
    """Load a kernel of which everything has to be known."""
    loaded = load(text(body, **options))
    assert loaded.unsupported == ()
    return loaded


def run(body: str, *arrays: np.ndarray, grid: int = 1, block: int = 64, budget: int = 10_000, **options: Any) -> Tally:
    """Run a kernel over arrays."""
    memory = Memory()
    unwritten = options.pop("unwritten", ())
    for number, array in enumerate(arrays):
        memory.add(array.ctypes.data, array.nbytes, f"array {number}", unwritten=number in unwritten)
    loaded = program(body, pointers=max(1, len(arrays)), **options)
    addresses = [array.ctypes.data for array in arrays]
    return launch(loaded, "kernel", (grid, 1, 1), (block, 1, 1), addresses, memory, budget=budget)


def fault(kind: FaultKind, body: str, *arrays: np.ndarray, **options: Any) -> Fault:
    """Run a kernel that has to fail in one way, and return how it did."""
    with pytest.raises(Fault) as raised:
        run(body, *arrays, **options)
    assert raised.value.kind is kind, str(raised.value)
    assert "\n" not in str(raised.value)
    return raised.value


STORE = """
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v31, 2, v0
s_waitcnt lgkmcnt(0)
global_store_dword v31, v1, s[4:5]
s_endpgm
"""
"""Stores v1 of each work-item of a workgroup to the first array."""
