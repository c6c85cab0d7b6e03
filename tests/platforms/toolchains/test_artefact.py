"""What binaries need, against the vendors' own tools and texts."""

from __future__ import annotations

import os
import re
import struct
import subprocess

import pytest

from kernelarena.platforms.toolchains.artefact import Needs, read_amdgcn, read_cubin

AMDGCN = """
	.amdhsa_next_free_vgpr 90
amdhsa.kernels:
  - .agpr_count:     32
    .group_segment_fixed_size: 512
    .name:           k
    .private_segment_fixed_size: 24
    .sgpr_count:     38
    .sgpr_spill_count: 1
    .vgpr_count:     96
    .vgpr_spill_count: 6
"""


def test_amd_metadata():
    assert read_amdgcn(AMDGCN) == Needs(registers=96, scalar_registers=38, spills=6, scratch=24, static_shared=512)
    assert read_amdgcn("") == Needs()


PTX = """
.version 8.0
.target sm_{arch}
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .b64 %rd<8>;
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .shared .align 4 .b8 buffer[{shared}];
  .local .align 4 .b8 stack[{local}];
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];  // an index that only the device knows keeps the array in memory
  and.b32 %r2, %r1, {mask};
  cvt.u64.u32 %rd4, %r2;
  mov.u64 %rd5, stack;
  add.u64 %rd6, %rd5, %rd4;
  ld.global.f32 %f1, [%rd2+4];
  st.volatile.shared.f32 [buffer], %f1;
  ld.volatile.shared.f32 %f2, [buffer];
  st.local.f32 [stack], %f2;
  st.local.f32 [%rd6], %f1;
  ld.local.f32 %f3, [%rd5+4];
  add.f32 %f2, %f2, %f3;
  st.global.f32 [%rd2], %f2;
  ret;
}}
"""


@pytest.mark.parametrize("arch", ["80", "90"])
@pytest.mark.parametrize(("shared", "local"), [(64, 256), (4096, 512)])
def test_cuda_binaries_agree_with_cuobjdump(tmp_path, arch, shared, local):
    triton = pytest.importorskip("triton")
    tools = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin")
    ptxas = os.path.join(tools, "ptxas")
    if not os.path.exists(ptxas):
        pytest.skip("this Triton brings no ptxas")
    (tmp_path / "k.ptx").write_text(PTX.format(arch=arch, shared=shared, local=local, mask=local - 4))
    cubin = tmp_path / "k.cubin"
    subprocess.run([ptxas, f"--gpu-name=sm_{arch}", tmp_path / "k.ptx", "-o", cubin], check=True)
    listing = subprocess.run(
        [os.path.join(tools, "cuobjdump"), "--dump-resource-usage", cubin], check=True, capture_output=True, text=True
    ).stdout
    said = {name: int(value) for name, value in re.findall(r"(REG|STACK|SHARED):(\d+)", listing)}
    needs = read_cubin(cubin.read_bytes(), "k")
    assert needs.registers == said["REG"]
    assert needs.scratch == said["STACK"] == local
    # On sm_90 the tool counts the 1024 bytes that the system takes from every block as well.
    assert needs.static_shared % 1024 == said["SHARED"] % 1024 == shared % 1024
    assert needs.spills == local // 4


def test_what_is_no_binary_is_refused():
    with pytest.raises(ValueError, match="not a CUDA binary"):
        read_cubin(b"\x7fELF\x01\x01" + bytes(58), "k")
    header = b"\x7fELF\x02\x01" + bytes(34) + struct.pack("<Q", 64) + bytes(16)
    with pytest.raises((ValueError, IndexError, struct.error)):
        read_cubin(header, "k")
