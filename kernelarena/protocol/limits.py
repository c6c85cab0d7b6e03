"""Holds what a launch needs against what the chip allows."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.protocol.occupancy import Residency, residency
from kernelarena.spec import Platform, Resources


@dataclass(frozen=True)
class Excess:
    """What a launch needs more of than the chip has."""

    resource: str
    """``threads``, ``shared memory``, ``registers`` or ``residency``."""
    sentence: str
    """``needs 2048 threads per block (32 warps x 64 lanes); mi300 allows 1024``."""


def resources(
    platform: Platform,
    *,
    warps: int,
    stages: int | None,
    shared: int,
    registers: int | None,
    scalar_registers: int | None,
    spills: int | None,
    scratch: int | None,
) -> Resources:
    """Return the record of what one built launch needs, with the occupancy that follows."""
    held = _held(platform, warps, registers, shared)
    return Resources(
        threads_per_block=warps * _warp(platform),
        warps=warps,
        stages=stages,
        shared_memory=shared,
        registers=registers,
        scalar_registers=scalar_registers,
        spills=spills,
        scratch=scratch,
        occupancy=None if held is None else held.occupancy,
        limited_by=None if held is None else held.limited_by,
    )


def excess(platform: Platform, needs: Resources) -> Excess | None:
    """Return what ``needs`` asks too much of, or None if the chip can run it."""
    limits = platform.limits
    if limits is None:
        return None
    if needs.threads_per_block > limits.max_threads_per_block:
        return Excess(
            "threads",
            f"needs {needs.threads_per_block} threads per block ({needs.warps} warps × {limits.warp_size} lanes); "
            f"{platform.id} allows {limits.max_threads_per_block}",
        )
    if needs.shared_memory > limits.shared_memory_per_block:
        return Excess(
            "shared memory",
            f"needs {_bytes(needs.shared_memory)} of shared memory per block; {platform.id} allows "
            f"{_bytes(limits.shared_memory_per_block)}",
        )
    if needs.registers is not None and needs.registers > limits.registers_per_thread:
        return Excess(
            "registers",
            f"needs {needs.registers} registers per thread; {platform.id} allows {limits.registers_per_thread}",
        )
    held = _held(platform, needs.warps, needs.registers, needs.shared_memory)
    if held is not None and held.blocks == 0:
        return Excess(
            "residency",
            f"needs {needs.registers} registers in each of {needs.threads_per_block} threads and "
            f"{_bytes(needs.shared_memory)} of shared memory; no such block fits a multiprocessor of {platform.id}",
        )
    return None


ADVICE = {
    "threads": "lower num_warps",
    "shared memory": "use smaller blocks or fewer stages",
    "registers": "use smaller blocks or more warps",
    "residency": "use smaller blocks or fewer warps",
}
"""What to do about each kind of excess, in Triton's words."""
CPP_ADVICE = {
    "threads": "launch fewer threads per block",
    "shared memory": "use smaller tiles",
    "registers": "use smaller tiles, or __launch_bounds__",
    "residency": "launch fewer threads per block, or use __launch_bounds__",
}
"""The same, where a launch names its threads itself."""


def _warp(platform: Platform) -> int:
    return platform.limits.warp_size if platform.limits else 32


def _held(platform: Platform, warps: int, registers: int | None, shared: int) -> Residency | None:
    if platform.occupancy is None or warps < 1:
        return None
    return residency(platform.occupancy, _warp(platform), warps, registers or 0, shared)


def _bytes(size: int) -> str:
    return f"{size} bytes ({size / 1024:.4g} KiB)" if size >= 1024 else f"{size} bytes"
