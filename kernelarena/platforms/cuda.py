"""The backend of chips that NVIDIA's CUDA runtime drives."""

from __future__ import annotations

import re
from pathlib import Path

from kernelarena.platforms.backend import Backend, Device
from kernelarena.platforms.gpu import GpuBackend
from kernelarena.platforms.virtual_memory import Runtime
from kernelarena.platforms.visibility import Visibility
from kernelarena.spec import Language, Platform


class CudaBackend(GpuBackend):
    """Architectures are ``sm_<capability>``; an ``a`` or ``f`` behind the number is Triton's business, not ours."""

    name = "cuda"
    vendor_name = "NVIDIA"
    languages = (*Backend.languages, Language.CUDA, Language.HIP)
    device_node = Path("/dev/nvidiactl")
    triton_backend = "nvidia"
    torch_key = "cuda"
    arch_prefix = "sm_"
    visibility = Visibility((("CUDA_VISIBLE_DEVICES",),))
    variables = ("CUDA_DEVICE_ORDER",)
    runtime = Runtime(("libcuda.so.1", "libcuda.so"), "cu", limits=(0x06,))  # bytes of cache set aside to persist
    telemetry = "kernelarena.platforms.telemetry.nvml:NvmlProbe"
    driver_folder = Path("/proc/driver/nvidia/gpus")

    architectures = tuple(
        f"sm_{capability}{suffix}"
        for capability in (70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
        for suffix in (("", "a", "f") if capability >= 100 else ("", "a") if capability == 90 else ("",))
    )

    def match(self, device: Device, platform: Platform) -> bool:
        """As every backend does, except that a slice of a chip (MIG) is not the chip."""
        return "MIG" not in device.name.split() and super().match(device, platform)

    def triton_target(self, platform: Platform) -> tuple[str, int | str, int] | None:
        """``("cuda", 90, 32)`` for ``sm_90``."""
        match = re.fullmatch(r"sm_(\d{2,3})[af]?", platform.arch)
        if match is None:
            return None
        return "cuda", int(match[1]), platform.limits.warp_size if platform.limits else 32

    def nodes(self, device: Device) -> tuple[str, ...]:
        """Return the control nodes and the device's own: with these three alone, contexts open and kernels run."""
        return "/dev/nvidiactl", "/dev/nvidia-uvm", *self._own_nodes(device)

    def identifier(self, device: Device) -> str:
        """``GPU-<uuid>``."""
        return f"GPU-{device.uuid.removeprefix('GPU-')}" if device.uuid else ""

    def _own_nodes(self, device: Device) -> list[str]:
        """Return ``/dev/nvidia<minor>``; every one where the driver does not say which it is."""
        try:
            told = (self.driver_folder / f"{device.pci}.0" / "information").read_text()
            minor = re.search(r"Device Minor:\s*(\d+)", told)
        except OSError:
            minor = None
        if minor is not None:
            return [f"/dev/nvidia{minor[1]}"]
        return sorted(str(node) for node in self.device_node.parent.glob("nvidia[0-9]*"))
