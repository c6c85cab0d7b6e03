"""What each chip answers."""

from __future__ import annotations

import pytest

from kernelarena.platforms import catalogue
from kernelarena.platforms.persona.facts import facts

PLATFORMS = catalogue.load()
COMPILED = ["mi250", "mi300", "mi355", "rx7900", "a100", "h100", "h200", "b200", "rtx4090"]


@pytest.mark.parametrize(
    ("platform", "target", "capability", "gcn"),
    [
        ("mi250", ("hip", "gfx90a", 64), (9, 0), "gfx90a:sramecc+:xnack-"),
        ("mi300", ("hip", "gfx942", 64), (9, 4), "gfx942:sramecc+:xnack-"),
        ("mi355", ("hip", "gfx950", 64), (9, 5), "gfx950:sramecc+:xnack-"),
        ("rx7900", ("hip", "gfx1100", 32), (11, 0), "gfx1100"),
        ("a100", ("cuda", 80, 32), (8, 0), None),
        ("rtx4090", ("cuda", 89, 32), (8, 9), None),
        ("h100", ("cuda", 90, 32), (9, 0), None),
        ("b200", ("cuda", 100, 32), (10, 0), None),
    ],
)
def test_identity(platform, target, capability, gcn):
    found = facts(PLATFORMS[platform])
    assert (found.target, found.capability) == (target, capability)
    assert found.gcn_arch_name == (gcn or PLATFORMS[platform].title)
    assert (found.hip_version is None) == (target[0] == "cuda")
    assert (found.cuda_version is None) == (target[0] == "hip")


@pytest.mark.parametrize("platform", COMPILED)
def test_answers_agree_with_one_another_and_with_the_platform_file(platform):
    found, chip = facts(PLATFORMS[platform]), PLATFORMS[platform]
    torch_says, triton_says = found.properties, found.triton_properties
    assert torch_says["warp_size"] == triton_says["warpSize"] == chip.limits.warp_size == found.target[2]
    assert torch_says["multi_processor_count"] == triton_says["multiprocessor_count"] == chip.occupancy.multiprocessors
    assert torch_says["shared_memory_per_block_optin"] == triton_says["max_shared_mem"]
    assert torch_says["shared_memory_per_block"] <= torch_says["shared_memory_per_block_optin"]
    assert torch_says["total_memory"] == found.memory == chip.memory.bytes
    assert (torch_says["major"], torch_says["minor"]) == found.capability
    bandwidth = triton_says["mem_clock_rate"] * 1e3 * 2 * triton_says["mem_bus_width"] / 8
    assert bandwidth == pytest.approx(chip.memory.bandwidth, rel=1e-3)


@pytest.mark.parametrize("platform", ["cpu", "ascend910b", "b580"])
def test_a_chip_that_triton_has_no_target_for_has_no_persona(platform):
    with pytest.raises(ValueError, match=f"there is no persona of '{platform}'"):
        facts(PLATFORMS[platform])
