"""What backends have in common whose chips PyTorch drives, as ``torch.cuda``, ``torch.xpu`` or a plug-in's module."""

from __future__ import annotations

import glob
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kernelarena.platforms import discovery
from kernelarena.platforms.backend import Access, Availability, Backend, Device
from kernelarena.platforms.virtual_memory import Runtime
from kernelarena.platforms.visibility import Visibility
from kernelarena.spec import Evidence, Platform

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice


class TorchBackend(Backend):
    """Discovery by a short-lived process, measured evidence through torch. A chip is a few class attributes."""

    vendor_name: ClassVar[str]
    """As people write it: ``an AMD GPU``."""
    noun: ClassVar[str] = "GPU"
    """What the vendor calls such a thing."""
    device_node: ClassVar[Path]
    """Present wherever the vendor's kernel driver is (a pattern); looked at first, because it costs nothing."""
    more_nodes: ClassVar[tuple[str, ...]] = ()
    """Patterns of the other files that a process must be able to open."""
    torch_kind: ClassVar[str]
    """What torch calls the devices: ``cuda``, ``xpu``."""
    plug_in: ClassVar[str] = ""
    """The module that teaches torch this kind; empty where torch knows it."""
    torch_key: ClassVar[str] = ""
    """``torch.version.<key>`` is set in builds of torch for this runtime; empty where nothing is."""
    arch_prefix: ClassVar[str] = ""
    """Before the numbers of a device's capability, to name its architecture; empty where it is not so named."""
    visibility: ClassVar[Visibility]
    """The environment variables that show devices to the runtime."""
    variables: ClassVar[tuple[str, ...]] = ()
    """Others that the runtime reads, where it is installed say, and that a process must be given as they are here."""
    runtime: ClassVar[Runtime | None] = None
    """The driver's virtual memory calls; without, tensors are copied through the host's memory."""

    def devices(self) -> list[Device]:
        """Return the devices that torch can use here, asked in a process of its own and remembered."""
        return self._probe[0]

    def availability(self, platform: Platform) -> Availability:
        """Return ``measured`` where the chip is here; there is no other evidence of it."""
        absent = self._why_not_measured(platform)
        return Availability((Evidence.MEASURED,)) if absent is None else Availability((), absent)

    def open(self, index: int) -> OpenedDevice:
        """Open a device through torch."""
        from kernelarena.platforms.torch_device import TorchDevice

        return TorchDevice(self.torch_kind, index, self.plug_in, self.runtime)

    def access(self, device: Device) -> Access:
        """Return the nodes of ``device`` and the variable that shows it alone.

        A device goes by its identifier where it has one of its own (parts of one chip may share it), because a runtime
        that finds one device's node only may number it anew.
        """
        identifier = self.identifier(device)
        shared = [self.identifier(other) for other in self.devices()].count(identifier) > 1
        kept = {name: os.environ[name] for name in self.variables if name in os.environ}
        shown = self.visibility.only(device.index, "" if shared else identifier, os.environ)
        return Access(self.nodes(device), kept | shown, self.visibility.names)

    def nodes(self, device: Device) -> tuple[str, ...]:
        """Return the files that a process must be able to open to use ``device``; those of every device, by default."""
        patterns = (str(self.device_node), *self.more_nodes)
        return tuple(path for pattern in patterns for path in sorted(glob.glob(pattern)))

    def identifier(self, device: Device) -> str:
        """Return how the runtime's variable calls ``device``, or nothing where it has no name there."""
        return ""

    def has_driver(self) -> bool:
        """Return whether the vendor's kernel driver is in this host."""
        return bool(glob.glob(str(self.device_node)))

    def absence(self) -> str:
        """Return what of the driver's is not there, where it has none; other vendors' nodes may have the same names."""
        others = glob.glob(str(self.device_node))
        return f"none of {self.device_node} is of that vendor" if others else f"no {self.device_node}"

    def _why_not_measured(self, platform: Platform) -> str | None:
        if not self.has_driver():
            return f"no {self.vendor_name} {self.noun} in this host ({self.absence()})"
        devices, problem = self._probe
        if problem:
            return problem
        if self.present(platform):
            return None
        others = ", ".join(sorted({device.name for device in devices}))
        return f"no {platform.title} in this host" + (f" (it has {others})" if others else "")

    @cached_property
    def _probe(self) -> tuple[list[Device], str]:
        """The devices, and why there are none although the driver is loaded."""
        if not self.has_driver():
            return [], ""
        answer = discovery.ask_torch(self.torch_kind, self.plug_in, self.arch_prefix)
        if "problem" in answer:
            return [], answer["problem"]
        if self.torch_key and not answer[self.torch_key]:
            what = f"{self.vendor_name} {self.noun}s"
            return [], f"torch {answer['torch']} is not a build for {what}: install one that is"
        devices = [Device(**device) for device in answer["devices"]]
        if devices:
            return devices, ""
        hidden = [f"{name}='{os.environ[name]}'" for name in self.visibility.names if name in os.environ]
        why = f" ({', '.join(hidden)} may hide it)" if hidden else ""
        return [], f"torch {answer['torch']} sees no {self.vendor_name} device here{why}"
