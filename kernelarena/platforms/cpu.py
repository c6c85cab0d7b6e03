"""The backend of the ``cpu`` platform: Triton's interpreter, on any host."""

from __future__ import annotations

from kernelarena.platforms.backend import Availability, Backend, Device
from kernelarena.platforms.gpu import triton_version
from kernelarena.spec import Evidence, Platform


class CpuBackend(Backend):
    """Has no devices: everything about it is emulated."""

    name = "cpu"

    def devices(self) -> list[Device]:
        """Return none: a host's processor is not a device that kernels are compiled for."""
        return []

    def availability(self, platform: Platform) -> Availability:
        """Return ``emulated`` wherever Triton is installed."""
        if triton_version() is None:
            return Availability((), "Triton is not installed: pip install 'kernelarena[triton]'")
        return Availability((Evidence.EMULATED,), "kernels run in Triton's interpreter, so there is no time to measure")
