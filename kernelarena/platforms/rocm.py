"""The backend of chips that AMD's ROCm runtime drives."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from kernelarena.platforms.backend import Availability, Backend, Device
from kernelarena.platforms.gpu import GpuBackend
from kernelarena.platforms.telemetry.identity import uuid_forms
from kernelarena.platforms.virtual_memory import Runtime
from kernelarena.platforms.visibility import Visibility
from kernelarena.spec import Evidence, Language, Platform

EMULATED = ("gfx90a", "gfx942", "gfx950")
"""Architectures that :mod:`kernelarena.platforms.emulator` runs the code of."""


class RocmBackend(GpuBackend):
    """Architectures are LLVM's processor names, ``gfx942``.

    What concerns a device itself (``nodes``, ``identifier``, ``runtime``) follows the vendor's documentation and has
    never been run.
    """

    name = "rocm"
    vendor_name = "AMD"
    languages = (*Backend.languages, Language.HIP, Language.CUDA)
    device_node = Path("/dev/kfd")
    triton_backend = "amd"
    torch_key = "hip"
    # ROCr's comes first and takes identifiers; HIP's counts within what that leaves, and goes by either name.
    visibility = Visibility((("ROCR_VISIBLE_DEVICES",), ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")))
    runtime = Runtime(("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"), "hip", "RuntimeGetVersion", 70100000)
    telemetry = "kernelarena.platforms.telemetry.amd_smi:AmdSmiProbe"
    render_folder = Path("/sys/class/drm")

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

    def availability(self, platform: Platform) -> Availability:
        """Return what every such backend finds, and ``emulated`` where what is compiled can be run without the chip."""
        found = super().availability(platform)
        if Evidence.COMPILED not in found.evidence or platform.budget is None or platform.arch not in EMULATED:
            return found
        *stronger, weakest = found.evidence
        return replace(found, evidence=(*stronger, Evidence.EMULATED, weakest))

    def emulated(self, platform: Platform) -> dict[str, tuple[str, ...]]:
        """Return what the emulator models."""
        if platform.arch not in EMULATED:
            return {}
        from kernelarena.platforms.emulator.coverage import coverage

        return coverage(platform.arch)

    def nodes(self, device: Device) -> tuple[str, ...]:
        """Return the node that computes and the device's render node; every render node where it is not known."""
        found = sorted(self.render_folder.glob("renderD*"))
        own = [node for node in found if (node / "device").resolve().name.startswith(device.pci)] if device.pci else []
        return str(self.device_node), *(f"/dev/dri/{node.name}" for node in own or found)

    def identifier(self, device: Device) -> str:
        """``GPU-<serial>``: the 16 hexadecimal digits that the runtime itself prints, however torch spells them."""
        serials = sorted(form for form in uuid_forms(device.uuid) if len(form) == 16)
        return f"GPU-{serials[0]}" if serials else ""
