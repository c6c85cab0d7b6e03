"""Where a vendor's driver and tools leave traces on a host, and what their packages are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelarena.spec import Language


@dataclass(frozen=True)
class Vendor:
    """What to look for beside torch, for the chips of one backend.

    Attributes
    ----------
    driver
        Its kernel driver.
    versions
        Files that name the driver's version, the first that can be read is taken.
    nodes
        Patterns of device nodes, each of which some must exist of.
    install
        What to do where the driver is not there.
    allow
        What to do where the nodes may not be opened.
    release
        Files that name the release of the user-space stack.
    compilers
        By kernel language, the programs of which one is needed.
    management
        The module and the distribution by which the management library is asked.
    harm
        What to do where that is installed and no driver is loaded, if it is in somebody's way then.
    disguises
        Variables that make the runtime tell another architecture than the chip's own.
    """

    driver: str
    versions: tuple[Path, ...]
    nodes: tuple[str, ...]
    install: str
    allow: str
    release: tuple[Path, ...] = ()
    compilers: Mapping[Language, tuple[str, ...]] = field(default_factory=dict)
    management: tuple[str, str] | None = None
    harm: str = ""
    disguises: tuple[str, ...] = ()


VENDORS: Mapping[str, Vendor] = {
    "cuda": Vendor(
        driver="nvidia",
        versions=(Path("/proc/driver/nvidia/version"), Path("/sys/module/nvidia/version")),
        nodes=("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia[0-9]*"),
        install="install NVIDIA's driver; in a container, run it with --gpus all (NVIDIA Container Toolkit)",
        allow="give this user access to /dev/nvidia*",
        compilers={Language.CUDA: ("nvcc",)},
        management=("pynvml", "nvidia-ml-py"),
    ),
    "rocm": Vendor(
        driver="amdgpu",
        versions=(Path("/sys/module/amdgpu/version"),),
        nodes=("/dev/kfd", "/dev/dri/renderD*"),
        install="install ROCm's driver (amdgpu-dkms); in a container, add --device /dev/kfd --device /dev/dri",
        allow="add this user to the groups that own them (render, video); in a container, --group-add render",
        release=(Path("/opt/rocm/.info/version"),),
        compilers={Language.HIP: ("hipcc", "amdclang++", "clang++")},
        management=("amdsmi", "amdsmi"),
        harm="pip uninstall amdsmi: Ray imports it, and it ends where it finds no driver",
        disguises=("HSA_OVERRIDE_GFX_VERSION",),
    ),
}
"""By the name of the backend. Others are asked only what every backend answers."""
