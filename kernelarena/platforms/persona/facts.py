"""What a chip answers when host code asks it who it is, derived from its platform file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kernelarena.platforms.backend import backend_for
from kernelarena.spec import Platform

_NOMINAL_CLOCK = 1_500_000  # kHz; platform files carry no clock, and nothing but performance models reads it
_BUS_WIDTH = 4096  # bits; the memory clock below is chosen so that the product is the platform's bandwidth


@dataclass(frozen=True)
class PersonaFacts:
    """Everything that a persona is made of.

    Attributes
    ----------
    target
        Triton's target: backend, architecture, warp size.
    hip_version, cuda_version
        What ``torch.version.hip`` and ``torch.version.cuda`` say; exactly one is set.
    capability
        ``torch.cuda.get_device_capability()``.
    device_name, gcn_arch_name
        As ``torch.cuda.get_device_properties()`` spells them.
    properties
        The attributes of ``torch.cuda.get_device_properties()``.
    triton_properties
        What Triton's driver utilities say of the device.
    memory
        Bytes of device memory.
    max_grid
        Blocks that a grid may have in x, y and z.
    max_grid_threads
        Threads that a grid may have in any one dimension, where the runtime counts those.
    max_threads
        Threads per block.
    registers
        32-bit registers per multiprocessor, from which the runtime derives how many threads of a kernel fit.
    """

    target: tuple[str, int | str, int]
    hip_version: str | None
    cuda_version: str | None
    capability: tuple[int, int]
    device_name: str
    gcn_arch_name: str
    properties: dict[str, object]
    triton_properties: dict[str, object]
    memory: int
    max_grid: tuple[int, int, int]
    max_grid_threads: int | None
    max_threads: int
    registers: int
    arch_list: tuple[str, ...] = field(default=())


def facts(platform: Platform) -> PersonaFacts:
    """Return what ``platform`` answers.

    Raises
    ------
    ValueError
        If Triton has no target for the platform, so that nobody could compile for it.
    """
    backend = backend_for(platform)
    target = backend.triton_target(platform) if backend is not None else None
    describe = _BY_TARGET.get(target[0]) if target is not None else None
    if target is None or describe is None or platform.limits is None:
        raise ValueError(
            f"there is no persona of '{platform.id}': Triton has no target for {platform.arch} "
            f"of the backend '{platform.backend}', or the platform has no limits"
        )
    return describe(platform, target)


def _cuda(platform: Platform, target: tuple[str, int | str, int]) -> PersonaFacts:
    number = int(target[1])
    capability = (number // 10, number % 10)
    return _common(
        platform,
        target,
        cuda_version="13.0",
        capability=capability,
        gcn_arch_name=platform.title,  # torch answers the device's name there
        shared_default=min(49152, _limit(platform, "shared_memory_per_block")),
        max_grid=(2**31 - 1, 65535, 65535),  # CUDA C++ Programming Guide, technical specifications
        arch_list=(f"sm_{number}",),
    )


def _rocm(platform: Platform, target: tuple[str, int | str, int]) -> PersonaFacts:
    arch = str(target[1])
    major, minor = int(arch[3:-2]), int(arch[-2], 16)
    # Data-centre chips report their ECC and XNACK settings behind the name, as host code that splits at ':' knows.
    suffix = ":sramecc+:xnack-" if major == 9 else ""
    return _common(
        platform,
        target,
        hip_version="7.0.51831",
        capability=(major, minor),
        gcn_arch_name=arch + suffix,
        shared_default=_limit(platform, "shared_memory_per_block"),
        max_grid=(2**31 - 1, 2**31 - 1, 2**31 - 1),
        max_grid_threads=2**32 - 1,  # HIP programming guide: the grid in threads must fit 32 bits in each dimension
        arch_list=(arch,),
    )


_BY_TARGET: dict[str, Callable[[Platform, tuple[str, int | str, int]], PersonaFacts]] = {"cuda": _cuda, "hip": _rocm}
"""By the name of Triton's backend."""


def _limit(platform: Platform, name: str) -> int:
    return int(getattr(platform.limits, name))


def _common(
    platform: Platform,
    target: tuple[str, int | str, int],
    *,
    capability: tuple[int, int],
    gcn_arch_name: str,
    shared_default: int,
    max_grid: tuple[int, int, int],
    arch_list: tuple[str, ...],
    max_grid_threads: int | None = None,
    hip_version: str | None = None,
    cuda_version: str | None = None,
) -> PersonaFacts:
    limits, occupancy, memory = platform.limits, platform.occupancy, platform.memory
    assert limits is not None
    warp = target[2]
    multiprocessors = occupancy.multiprocessors if occupancy else 100
    threads = occupancy.max_warps * warp if occupancy else 2048
    registers = occupancy.registers if occupancy else 65536
    capacity = memory.bytes if memory else 80 * 2**30
    bandwidth = (memory and memory.bandwidth) or 2e12
    shared_total = occupancy.shared_memory if occupancy else limits.shared_memory_per_block
    memory_clock = round(bandwidth * 8 / 2 / _BUS_WIDTH / 1e3)
    return PersonaFacts(
        target=target,
        hip_version=hip_version,
        cuda_version=cuda_version,
        capability=capability,
        device_name=platform.title,
        gcn_arch_name=gcn_arch_name,
        properties={
            "name": platform.title,
            "major": capability[0],
            "minor": capability[1],
            "total_memory": capacity,
            "multi_processor_count": multiprocessors,
            "max_threads_per_multi_processor": threads,
            "max_threads_per_block": limits.max_threads_per_block,
            "warp_size": warp,
            "regs_per_multiprocessor": registers,
            "shared_memory_per_block": shared_default,
            "shared_memory_per_block_optin": limits.shared_memory_per_block,
            "shared_memory_per_multiprocessor": shared_total,
            "L2_cache_size": memory.cache_bytes if memory else 40 * 2**20,
            "gcnArchName": gcn_arch_name,
            "is_integrated": 0,
            "is_multi_gpu_board": 0,
            "clock_rate": _NOMINAL_CLOCK,
            "memory_clock_rate": memory_clock,
            "memory_bus_width": _BUS_WIDTH,
            "pci_domain_id": 0,
            "pci_bus_id": 1,
            "pci_device_id": 0,
            "uuid": "00000000-0000-0000-0000-000000000000",
        },
        triton_properties={
            "max_shared_mem": limits.shared_memory_per_block,
            "max_num_regs": registers,
            "multiprocessor_count": multiprocessors,
            "warpSize": warp,
            "sm_clock_rate": _NOMINAL_CLOCK,
            "mem_clock_rate": memory_clock,
            "mem_bus_width": _BUS_WIDTH,
            "arch": gcn_arch_name,
            "cooperativeLaunch": 1,
        },
        memory=capacity,
        max_grid=max_grid,
        max_grid_threads=max_grid_threads,
        max_threads=limits.max_threads_per_block,
        registers=registers,
        arch_list=arch_list,
    )
