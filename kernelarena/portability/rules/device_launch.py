"""``device-launch``: a kernel that launches kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.cpp import LAUNCH_BY_DEVICE
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform


class DeviceLaunch(Rule):
    """A launch stands in a function that runs on the device (dynamic parallelism)."""

    id = "device-launch"
    summary = "A kernel launch by the device, which some vendors' runtimes do not have."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every launch."""
        for launch in unit.nodes("kernel_call_syntax"):
            function = unit.function_of(launch)
            if function is None or not function.on_device or "__host__" in function.words:
                continue
            lacking = (each for each in platforms if LAUNCH_BY_DEVICE.lacking(each) and unit.is_live(launch, each))
            yield Fault(
                unit.span(launch),
                where(lacking),
                f"{function.name} runs on the device and {LAUNCH_BY_DEVICE.what}",
                LAUNCH_BY_DEVICE.instead,
            )
