"""What C++ kernels include and call that not every vendor has.

What the translation of CUDA to HIP that comes with PyTorch knows is not here, since it carries over. Sources: the
HIPIFY documentation's lists of supported APIs; the HIP documentation, "HIP C++ language extensions"; clang's
``__HIP_NO_IMAGE_SUPPORT``, which it defines for chips without image instructions; CUDA C++ Programming Guide, "Thread
Block Clusters" and "Programmatic Dependent Launch".
"""

from __future__ import annotations

from kernelarena.platforms.dialects.where import AMD, NVIDIA, Construct, Where
from kernelarena.spec import Platform

_NVIDIA, _AMD = (Where(NVIDIA),), (Where(AMD),)
_CLUSTERS = (Where(NVIDIA, ("sm_90", "sm_100")),)

HEADERS = (
    Construct(
        "the matrix fragments of one vendor",
        ("mma.h", "crt/mma.h"),
        _NVIDIA,
        "rocWMMA's fragments behind #ifdef, which have the same interface, or a tiled product of your own",
    ),
    Construct(
        "asynchronous copies into shared memory",
        ("cuda_pipeline.h", "cuda_pipeline_primitives.h", "cuda_awbarrier.h", "cuda_awbarrier_primitives.h"),
        _NVIDIA,
        "plain loads into registers, stored to shared memory after the computation that they overlap with",
    ),
    Construct(
        "parts of cooperative groups that HIP does not have",
        ("cooperative_groups/reduce.h", "cooperative_groups/scan.h", "cooperative_groups/memcpy_async.h"),
        _NVIDIA,
        "a loop of shuffles over tile.size(), and <cooperative_groups.h> alone",
    ),
    Construct(
        "the C++ library of one vendor's toolkit",
        ("cuda/*", "nv/target"),
        _NVIDIA,
        "<hip/std/…>, where libhipcxx is installed, behind #ifdef; atomics: atomicAdd and __threadfence()",
    ),
    Construct(
        "templates of one vendor",
        ("cutlass/*", "cute/*"),
        _NVIDIA,
        "a kernel of your own for chips without it (Composable Kernel is its nearest relative there), chosen by #ifdef",
    ),
    Construct(
        "templates of one vendor",
        ("ck/*", "ck_tile/*", "rocwmma/*", "rocprim/*", "hip/amd_detail/*"),
        _AMD,
        "a kernel of your own for chips without it, chosen by #ifdef; for block-wide primitives hipCUB serves both",
    ),
)
"""By what is written between the brackets of ``#include``."""

CALLS = (
    Construct(
        "a compiler builtin of one vendor",
        ("__builtin_amdgcn_*", "__builtin_mxc_*"),
        _AMD,
        "the function of the HIP headers that wraps it, or an #ifdef with what other chips have",
    ),
    Construct(
        "a compiler builtin of one vendor",
        ("__nvvm_*",),
        _NVIDIA,
        "the intrinsic that wraps it, or an #ifdef with what other chips have",
    ),
    Construct(
        "asynchronous copies into shared memory",
        ("__pipeline_memcpy_async", "__pipeline_commit", "__pipeline_wait_prior"),
        _NVIDIA,
        "plain loads into registers, stored to shared memory after the computation that they overlap with",
    ),
    Construct(
        "a pause that HIP does not have",
        ("__nanosleep",),
        _NVIDIA,
        "__builtin_amdgcn_s_sleep() behind #ifdef, or a plain loop",
    ),
    Construct(
        "programmatic dependent launch",
        ("cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"),
        _CLUSTERS,
        "kernels in the order of their stream, or a path of its own behind #ifdef",
    ),
    Construct(
        "textures, for which some chips have no instructions",
        (
            "tex1D",
            "tex2D",
            "tex3D",
            "tex1Dfetch",
            "tex1DLod",
            "tex2DLod",
            "tex3DLod",
            "tex2Dgather",
            "texCubemap",
            "surf1Dread",
            "surf1Dwrite",
            "surf2Dread",
            "surf2Dwrite",
            "surf3Dread",
            "surf3Dwrite",
        ),
        (Where(NVIDIA), Where(AMD, ("gfx1100",))),
        "loads through a const __restrict__ pointer, and interpolation written out",
    ),
)
"""By the name that is called, without template arguments. Where a file defines a function of that name it is not
meant."""

GROUPS = (
    Construct(
        "a reduction or scan by a group, which HIP does not have",
        (
            "reduce",
            "reduce_store_async",
            "reduce_update_async",
            "inclusive_scan",
            "inclusive_scan_update",
            "exclusive_scan",
            "exclusive_scan_update",
        ),
        _NVIDIA,
        "a loop of the tile's own shuffles: for (int o = tile.size() / 2; o > 0; o /= 2) v += tile.shfl_down(v, o)",
    ),
    Construct(
        "an asynchronous copy by a group, which HIP does not have",
        ("memcpy_async", "wait", "wait_prior"),
        _NVIDIA,
        "plain loads and stores by the threads of the group, and group.sync()",
    ),
    Construct(
        "a partition by label, which HIP does not have",
        ("labeled_partition",),
        _NVIDIA,
        "tiled_partition where labels are contiguous, or a ballot for each label",
    ),
    Construct(
        "a call by one thread that the hardware picks, which HIP does not have",
        ("invoke_one", "invoke_one_broadcast"),
        _NVIDIA,
        "if (group.thread_rank() == 0), and group.shfl(v, 0) to tell the others",
    ),
    Construct(
        "memory for tiles of several warps, which HIP does not have",
        ("block_tile_memory",),
        _NVIDIA,
        "tiles within a warp, and shared memory between them",
    ),
    Construct(
        "a cluster of blocks",
        ("cluster_group", "this_cluster"),
        _CLUSTERS,
        "blocks that share nothing, or a path of its own behind #ifdef",
    ),
)
"""By the name in the namespace of cooperative groups. What is not here is in HIP's header too (HIP documentation,
"Cooperative groups"; ``amd_hip_cooperative_groups.h`` of ROCm 6: thread blocks, grids, tiles, coalesced groups)."""
GROUPS_NAMESPACE = "cooperative_groups"
TILES = frozenset({"tiled_partition", "thread_block_tile"})
"""Names in it whose first template argument is how many threads make a tile."""
_TILES_OF_SEVERAL_WARPS = Where(NVIDIA)


def takes_tile(platform: Platform, threads: int) -> bool:
    """Return whether a tile of a size that is known at compile time may be made, as far as is known."""
    if platform.limits is None or not _TILES_OF_SEVERAL_WARPS.lacks(platform):
        return True
    return threads <= platform.limits.warp_size


LAUNCH_BY_DEVICE = Construct(
    "launches a kernel from a kernel",
    (),
    _NVIDIA,
    "a launch by the host for each stage, or a loop inside one kernel",
)

FLOAT8_TYPES = {
    "__nv_fp8_e4m3": ("float8_e4m3", "float8_e4m3fn"),
    "__hip_fp8_e4m3": ("float8_e4m3", "float8_e4m3fn"),
    "__hip_fp8_e4m3_fnuz": ("float8_e4m3", "float8_e4m3fnuz"),
    "__hip_fp8_e5m2_fnuz": ("float8_e5m2", "float8_e5m2fnuz"),
}
"""Eight-bit types whose other flavour means other numbers by the same bits: the canonical dtype, and the flavour."""

BOUND_IN_WARPS = {(AMD, 64): 4}
"""Execution units of a multiprocessor, by backend and warp size, where the second of ``__launch_bounds__`` counts warps
on each of them instead of blocks on all (HIP documentation, "HIP C++ language extensions"; CDNA ISA guides: a compute
unit has four SIMD units)."""

PROPERTIES = frozenset({"cudaDeviceProp", "hipDeviceProp_t"})
"""Types of what host code is told of a device."""
COMPARISONS = frozenset({"strcmp", "strncmp", "strcasecmp", "strstr"})
"""Functions that look for one text in another."""


def is_for_hip(header: str) -> bool:
    """Return whether a header, as it is written behind ``#include``, is one of HIP's."""
    return header.strip('<>"').startswith("hip/")


DYNAMIC_SHARED_MEMORY = frozenset(
    {"cudaFuncAttributeMaxDynamicSharedMemorySize", "hipFuncAttributeMaxDynamicSharedMemorySize"}
)
"""Names of the attribute by which a kernel opts in to more shared memory."""
_STATIC = {NVIDIA: 48 << 10}
"""Bytes that arrays of a size known at compile time may have, where that is less than a block may opt in to."""


def static_shared_memory(backend: str, per_block: int) -> int:
    """Return the bytes of shared memory that a kernel's fixed arrays may have together."""
    return min(_STATIC.get(backend, per_block), per_block)
