"""The backend of the ``cpu`` platform: Triton's interpreter, on any host."""

from __future__ import annotations

from kernelarena.platforms.backend import Availability, Backend, Device
from kernelarena.platforms.toolchains.triton import version as triton_version
from kernelarena.spec import Evidence, Platform


class CpuBackend(Backend):
    """Has no devices: everything about it is emulated."""

    name = "cpu"
    architectures = ("interpreter",)

    def problems(self, platform: Platform) -> list[tuple[str, str]]:
        """Return what every backend finds, and what an interpreter cannot do without."""
        lacking = {
            "persona": "host code must be told of some chip; name the platform that answers for this one",
            "budget": "an interpreter needs a bound on what one trial may cost",
        }
        given = {"persona": platform.persona, "budget": platform.budget}
        return super().problems(platform) + [(key, why) for key, why in lacking.items() if given[key] is None]

    def devices(self) -> list[Device]:
        """Return none: a host's processor is not a device that kernels are compiled for."""
        return []

    def availability(self, platform: Platform) -> Availability:
        """Return ``emulated`` wherever Triton is installed."""
        if triton_version() is None:
            return Availability((), "Triton is not installed: pip install 'kernelarena[triton]'")
        return Availability((Evidence.EMULATED,), "kernels run in Triton's interpreter, so there is no time to measure")
