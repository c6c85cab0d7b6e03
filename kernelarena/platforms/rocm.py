"""The backend of chips that AMD's ROCm runtime drives."""

from __future__ import annotations

import re
from pathlib import Path

from kernelarena.platforms.gpu import GpuBackend
from kernelarena.spec import Platform


class RocmBackend(GpuBackend):
    """Architectures are LLVM's processor names, ``gfx942``."""

    name = "rocm"
    vendor_name = "AMD"
    device_node = Path("/dev/kfd")
    triton_backend = "amd"
    torch_key = "hip"
    visibility = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")

    architectures = (
        *("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
        *("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"),
        *("gfx1200", "gfx1201", "gfx1250", "gfx1251"),
    )

    def triton_target(self, platform: Platform) -> tuple[str, int | str, int] | None:
        """``("hip", "gfx942", 64)`` for ``gfx942``; without ``limits``, 64 lanes on gfx9 and 32 on later ones."""
        match = re.fullmatch(r"gfx(\d{1,2})\d[0-9a-f]", platform.arch)
        if match is None:
            return None
        default = 64 if int(match[1]) <= 9 else 32
        return "hip", platform.arch, platform.limits.warp_size if platform.limits else default
