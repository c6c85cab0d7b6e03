"""A platform file made of what a runtime tells: it loads, it matches the device, and it claims nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kernelarena.errors import InputError
from kernelarena.platforms.backend import Backend, Device, backend_named
from kernelarena.platforms.catalogue import load, platform_of
from kernelarena.platforms.draft import draft
from kernelarena.platforms.unmatched import remedy
from kernelarena.spec import Platform, Shape
from kernelarena.spec.roofline import roofline
from kernelarena.spec.yamlfile import Document
from tests.spec.test_roofline import TASK

SHIPPED = load()
WORDS = frozenset(word for platform in SHIPPED.values() for word in (platform.id, *platform.aliases))
A6000 = Device(0, "NVIDIA RTX A6000", "sm_86", "uuid", "0000:01:00")
MI308X = Device(1, "AMD Instinct MI308X", "gfx942:sramecc+:xnack-", "uuid", "0000:02:00")
TOLD: dict[str, Any] = {
    "total": 51041271808,
    "torch": "2.9.0",
    "properties": {
        "warp_size": 32, "max_threads_per_block": 1024, "shared_memory_per_block": 49152,
        "shared_memory_per_block_optin": 101376, "L2_cache_size": 6291456,
    },
}  # fmt: skip
AMD_TOLD: dict[str, Any] = {
    "total": 206141652992,
    "torch": "2.9.0+rocm7.0",
    "properties": {"warp_size": 64, "shared_memory_per_block": 65536, "L2_cache_size": 4194304},
}


def backend(name: str) -> Backend:
    found = backend_named(name)
    assert found is not None
    return found


def loaded(name: str, device: Device, told: dict[str, Any], folder: Path) -> Platform:
    """Write the draft where a user would, and return what the catalogue makes of it."""
    text = draft(backend(name), device, told, WORDS)
    id_ = next(line.split()[1] for line in text.splitlines() if line.startswith("id: "))
    (folder / f"{id_}.yaml").write_text(text)
    platforms = load([folder])
    assert set(platforms) - set(SHIPPED) == {id_}
    return platforms[id_]


def test_an_unknown_nvidia_chip(tmp_path: Path) -> None:
    assert platform_of(backend("cuda"), A6000, SHIPPED.values()) is None
    platform = loaded("cuda", A6000, TOLD, tmp_path)
    assert (platform.id, platform.vendor, platform.arch) == ("rtx-a6000", "nvidia", "sm_86")
    assert platform.limits is not None
    assert (platform.limits.shared_memory_per_block, platform.limits.registers_per_thread) == (101376, 255)
    assert platform.memory is not None
    assert (platform.memory.bytes, platform.memory.cache_bytes) == (51041271808, 6291456)
    assert platform.source[0].title.startswith("torch 2.9.0")
    assert platform_of(backend("cuda"), A6000, load([tmp_path]).values()) == platform


def test_an_unknown_amd_chip(tmp_path: Path) -> None:
    assert platform_of(backend("rocm"), MI308X, SHIPPED.values()) is None
    platform = loaded("rocm", MI308X, AMD_TOLD, tmp_path)
    assert (platform.id, platform.vendor, platform.arch) == ("instinct-mi308x", "amd", "gfx942")
    assert platform.limits is not None
    assert (platform.limits.warp_size, platform.limits.max_threads_per_block) == (64, 1024)
    assert platform.limits.registers_per_thread == 512
    assert platform.dtype("float8_e4m3") == "float8_e4m3fnuz"
    assert platform.memory is not None
    assert platform.memory.cache_bytes is None, "there is a cache behind the L2 that the runtime tells"
    assert platform_of(backend("rocm"), MI308X, load([tmp_path]).values()) == platform


@pytest.mark.parametrize(("name", "device", "told"), [("cuda", A6000, TOLD), ("rocm", MI308X, AMD_TOLD)])
def test_what_nobody_measured_is_not_claimed(tmp_path: Path, name: str, device: Device, told: dict[str, Any]) -> None:
    platform = loaded(name, device, told, tmp_path)
    assert platform.peak_flops == {}
    assert platform.memory is not None
    assert platform.memory.bandwidth is None
    assert roofline(TASK, Shape(dims={"M": 64, "K": 64}, dtype="float16"), platform) is None


def test_a_device_of_a_runtime_that_tells_little(tmp_path: Path) -> None:
    """A plug-in's properties commonly stop at name and memory, and its chips have no capability."""
    device = Device(0, "Ascend910B4", "")
    platform = loaded("npu", device, {"total": 1 << 35, "torch": "2.9.0", "properties": {}}, tmp_path)
    assert platform.limits is None
    assert platform_of(backend("npu"), device, [platform]) == platform


def test_a_slice_of_a_chip_is_not_described() -> None:
    device = Device(0, "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "sm_90")
    with pytest.raises(InputError, match="is a slice of a chip"):
        draft(backend("cuda"), device, TOLD, WORDS)
    assert remedy(backend("cuda"), device).startswith("switch MIG off")


def test_an_id_is_no_word_of_another_platform(tmp_path: Path) -> None:
    text = draft(backend("cuda"), A6000, TOLD, WORDS | {"rtx-a6000", "rtx-a6000-2"})
    assert "\nid: rtx-a6000-3\n" in text


@settings(deadline=None)
@given(
    name=st.text(min_size=1, max_size=60) | st.sampled_from(["null", "yes", "0", "1e3", "-", "NVIDIA ", "#", "a: b"])
)
def test_whatever_a_device_is_called_the_file_fits(name: str) -> None:
    device = Device(0, name, "sm_86")
    assume("MIG" not in name.split())
    text = draft(backend("cuda"), device, TOLD, WORDS)
    platform = Document(Path("draft.yaml"), text=text).fit(Platform)
    assert platform.title == name
