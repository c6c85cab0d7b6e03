"""Residency against published tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.platforms import catalogue
from kernelarena.protocol.occupancy import residency
from kernelarena.spec.platform import Occupancy

PLATFORMS = catalogue.load()


def occupancy_of(platform: str, warps: int, registers: int, shared: int = 0):
    chip = PLATFORMS[platform]
    return residency(chip.occupancy, chip.limits.warp_size, warps, registers, shared)


@pytest.mark.parametrize(
    ("platform", "threads", "registers", "shared", "blocks", "occupancy", "limited_by"),
    [
        # CUDA Occupancy Calculator (spreadsheet and Nsight Compute), compute capabilities 8.0, 8.9 and 9.0.
        ("a100", 256, 32, 0, 8, 1.0, None),
        ("a100", 256, 33, 0, 6, 0.75, "registers"),
        ("a100", 256, 64, 0, 4, 0.5, "registers"),
        ("a100", 256, 255, 0, 1, 0.125, "registers"),
        ("a100", 128, 128, 0, 4, 0.25, "registers"),
        ("a100", 1024, 32, 0, 2, 1.0, None),
        ("a100", 1024, 64, 0, 1, 0.5, "registers"),
        ("a100", 32, 32, 0, 32, 0.5, "blocks"),
        ("a100", 256, 32, 40 * 1024, 4, 0.5, "shared memory"),
        ("a100", 256, 32, 163 * 1024, 1, 0.125, "shared memory"),
        ("h100", 384, 168, 0, 1, 0.1875, "registers"),
        ("h100", 128, 32, 100 * 1024, 2, 0.125, "shared memory"),
        ("h100", 512, 32, 227 * 1024, 1, 0.25, "shared memory"),
        ("rtx4090", 512, 40, 0, 3, 1.0, None),
        ("rtx4090", 1024, 40, 0, 1, 32 / 48, "threads"),
    ],
)
def test_nvidia_tables(platform, threads, registers, shared, blocks, occupancy, limited_by):
    found = occupancy_of(platform, threads // 32, registers, shared)
    assert (found.blocks, found.occupancy, found.limited_by) == (blocks, occupancy, limited_by)


@pytest.mark.parametrize(
    ("vgprs", "waves_per_simd"),
    # AMD, "AMD Instinct MI200/MI300 instruction set" and the ROCm occupancy tables for gfx90a and gfx942:
    # 512 VGPRs a lane and SIMD, in steps of 8, at most 8 waves.
    [(24, 8), (64, 8), (65, 7), (72, 7), (80, 6), (96, 5), (128, 4), (129, 3), (168, 3), (170, 2), (256, 2), (512, 1)],
)
@pytest.mark.parametrize("platform", ["mi250", "mi300"])
def test_amd_tables(platform, vgprs, waves_per_simd):
    one_wave_blocks = occupancy_of(platform, 1, vgprs)
    assert one_wave_blocks.blocks == 4 * waves_per_simd
    assert one_wave_blocks.occupancy == waves_per_simd / 8


def test_a_block_that_does_not_fit_at_all():
    assert occupancy_of("mi300", 16, 512).blocks == 0
    assert occupancy_of("h100", 4, 32, 300 * 1024).limited_by == "shared memory"
    with pytest.raises(ValueError, match="at least one warp"):
        occupancy_of("h100", 0, 32)


chips = st.sampled_from([(p.occupancy, p.limits.warp_size) for p in PLATFORMS.values() if p.occupancy and p.limits])


@given(chips, st.integers(1, 32), st.integers(0, 512), st.integers(0, 1 << 18))
def test_residency_never_exceeds_what_the_chip_has(chip: tuple[Occupancy, int], warps, registers, shared):
    has, warp_size = chip
    found = residency(has, warp_size, warps, registers, shared)
    assert 0 <= found.occupancy <= 1
    assert found.blocks * warps <= has.max_warps
    assert found.blocks * shared <= has.shared_memory
    assert found.blocks * warps * registers * warp_size <= has.registers
    assert (found.limited_by is None) == (found.blocks * warps == has.max_warps)


@given(chips, st.integers(1, 16), st.integers(1, 250), st.integers(0, 1 << 16))
def test_asking_for_less_never_hurts(chip, warps, registers, shared):
    has, warp_size = chip
    more = residency(has, warp_size, warps, registers, shared)
    assert residency(has, warp_size, warps, registers - 1, shared).blocks >= more.blocks
    assert residency(has, warp_size, warps, registers, shared // 2).blocks >= more.blocks
