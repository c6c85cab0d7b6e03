"""How many blocks of a launch a multiprocessor holds, and what keeps it from holding more."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.spec.platform import Occupancy


@dataclass(frozen=True)
class Residency:
    """What one multiprocessor holds of a launch.

    Attributes
    ----------
    blocks
        Resident blocks; 0 if not even one fits.
    occupancy
        Resident warps over the most that the multiprocessor holds, 0 to 1.
    limited_by
        ``registers``, ``shared memory``, ``threads`` or ``blocks``; None where residency is complete.
    """

    blocks: int
    occupancy: float
    limited_by: str | None


def residency(chip: Occupancy, warp_size: int, warps: int, registers: int, shared: int) -> Residency:
    r"""Return how many blocks are resident at once.

    With :math:`w` warps a block, :math:`r` registers a thread and :math:`s` bytes of shared memory a block,

    .. math::

        B = \min\left(B_{max},\;
            \left\lfloor \frac{W_{max}}{w} \right\rfloor,\;
            \left\lfloor \frac{P \lfloor R / (P\, \lceil r \rceil_g\, L) \rfloor}{w} \right\rfloor,\;
            \left\lfloor \frac{S}{\lceil s + s_0 \rceil_h} \right\rfloor \right)

    where the multiprocessor has :math:`P` partitions, :math:`R` registers over all lanes, :math:`S` bytes of shared
    memory of which each block loses :math:`s_0`, and allocates registers in steps of :math:`g` a thread and shared
    memory in steps of :math:`h`; :math:`L` is the warp size. A warp keeps its registers in the file of one partition,
    so the register limit counts whole warps per partition; a block of fewer warps than partitions leaves room for
    another block's. Occupancy is :math:`B w / W_{max}`.

    Sources: NVIDIA, *CUDA Occupancy Calculator* (Nsight Compute), which allocates registers per warp in units of 256
    (8 a thread) and rounds warps per multiprocessor to its partitions; AMD, *CDNA3 Instruction Set Architecture*,
    Section 3.6 on VGPR allocation, and LLVM's ``getNumWavesPerEUWithNumVGPRs``: waves per SIMD = 512 / VGPRs rounded
    up to the granule.

    Parameters
    ----------
    chip
        What a multiprocessor has.
    warp_size
        Lanes of a warp.
    warps
        Per block.
    registers
        Vector registers per thread; 0 if unknown, which limits nothing.
    shared
        Bytes of shared memory per block.

    Raises
    ------
    ValueError
        If a block has no warps.
    """
    if warps < 1:
        raise ValueError(f"a block has at least one warp, not {warps}")
    limits = {"threads": chip.max_warps // warps, "blocks": chip.max_blocks}
    if registers > 0:
        held = _round_up(registers, chip.register_granularity) * warp_size
        per_partition = min(chip.registers // chip.partitions // held, -(-chip.max_warps // chip.partitions))
        limits["registers"] = per_partition * chip.partitions // warps
    if shared + chip.shared_memory_reserved > 0:
        taken = _round_up(shared + chip.shared_memory_reserved, chip.shared_memory_granularity)
        limits["shared memory"] = chip.shared_memory // taken
    blocks = min(limits.values())
    occupancy = min(1.0, blocks * warps / chip.max_warps)
    if blocks * warps + warps > chip.max_warps:
        # No further block would find room for its warps, so no other resource is to blame.
        return Residency(blocks, occupancy, None if blocks * warps == chip.max_warps else "threads")
    order = ("registers", "shared memory", "blocks", "threads")
    return Residency(blocks, occupancy, next(name for name in order if limits.get(name) == blocks))


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
