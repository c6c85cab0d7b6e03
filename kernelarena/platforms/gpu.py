"""What the backends whose chips PyTorch drives as ``torch.cuda`` and Triton compiles for have in common."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from abc import abstractmethod
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kernelarena.platforms.backend import Access, Availability, Backend, Device
from kernelarena.platforms.virtual_memory import Runtime
from kernelarena.spec import Evidence, Platform

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice

PROBE_TIMEOUT = 120.0
"""Seconds. A first import of torch from a network disk takes tens of them; a wedged driver takes for ever."""
OLDEST_TRITON = (3, 6)

_PROBE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]  # a torch.py in the working directory is not the one meant
import json
import torch
out = {"torch": torch.__version__, "hip": torch.version.hip, "cuda": torch.version.cuda, "devices": []}
for index in range(torch.cuda.device_count()):
    p = torch.cuda.get_device_properties(index)
    pci = [getattr(p, key, None) for key in ("pci_domain_id", "pci_bus_id", "pci_device_id")]
    out["devices"].append({
        "index": index,
        "name": p.name,
        "arch": getattr(p, "gcnArchName", "") if torch.version.hip else f"sm_{p.major}{p.minor}",
        "uuid": str(getattr(p, "uuid", "")),
        "pci": "" if None in pci else "{:04x}:{:02x}:{:02x}".format(*pci),
    })
print("\\n" + json.dumps(out))
"""


class GpuBackend(Backend):
    """Discovery by a short-lived process, compiled evidence by Triton, measured evidence through torch."""

    vendor_name: ClassVar[str]
    """As people write it: ``an AMD GPU``."""
    device_node: ClassVar[Path]
    """Present wherever the vendor's kernel driver is; looked at first, because it costs nothing."""
    triton_backend: ClassVar[str]
    """Entry point of the group ``triton.backends`` that compiles for these chips."""
    torch_key: ClassVar[str]
    """``torch.version.<key>`` is set in builds of torch for this runtime."""
    visibility: ClassVar[tuple[str, ...]]
    """Environment variables that hide devices from the runtime; the first takes identifiers of devices."""
    runtime: ClassVar[Runtime]
    """The driver's virtual memory calls."""

    @abstractmethod
    def triton_target(self, platform: Platform) -> tuple[str, int | str, int] | None:
        """Return Triton's target, or None where ``platform.arch`` is not one that this backend knows."""

    def devices(self) -> list[Device]:
        """Return the devices that torch can use here, asked in a process of its own and remembered."""
        return self._probe[0]

    def availability(self, platform: Platform) -> Availability:
        """Return ``measured`` where the chip is here, ``compiled`` where Triton can build for it, and why not more."""
        problem = self._why_not_built(platform)
        if problem is not None:
            return Availability((), problem)
        unlimited = None if platform.limits else f"{platform.id}.yaml has no 'limits' to hold a compiled kernel against"
        compiled = () if unlimited else (Evidence.COMPILED,)
        absent = self._why_not_measured(platform)
        if absent is None:
            return Availability((Evidence.MEASURED, *compiled))
        return Availability(compiled, unlimited or absent)

    def open(self, index: int) -> OpenedDevice:
        """Open a device through torch."""
        from kernelarena.platforms.opened import OpenedDevice

        return OpenedDevice(self.runtime, index)

    def access(self, device: Device) -> Access:
        """Return the nodes of ``device`` and the variable that shows it alone.

        A device goes by its identifier where it has one, because a runtime that finds one device's node only may
        number it anew.
        """
        shown = self.identifier(device) or str(device.index)
        return Access(self.nodes(device), {self.visibility[0]: shown})

    @abstractmethod
    def nodes(self, device: Device) -> tuple[str, ...]:
        """Return the files that a process must be able to open to use ``device``."""

    @abstractmethod
    def identifier(self, device: Device) -> str:
        """Return how the runtime's variable calls ``device``, or nothing where it has no name there."""

    def _why_not_built(self, platform: Platform) -> str | None:
        version = triton_version()
        if version is None:
            return "Triton is not installed: pip install 'kernelarena[triton]'"
        if _numbers(version) < OLDEST_TRITON:
            return f"Triton {version} is too old: {'.'.join(map(str, OLDEST_TRITON))} or newer is needed"
        if self.triton_backend not in triton_backends():
            return f"the installed Triton {version} has no backend '{self.triton_backend}'"
        if self.triton_target(platform) is None:
            return f"Triton has no target for arch '{platform.arch}' of backend '{self.name}'"
        return None

    def _why_not_measured(self, platform: Platform) -> str | None:
        if not self.device_node.exists():
            return f"no {self.vendor_name} GPU in this host (no {self.device_node})"
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
        if not self.device_node.exists():
            return [], ""
        answer = _ask_torch()
        if "problem" in answer:
            return [], answer["problem"]
        if not answer[self.torch_key]:
            return [], f"torch {answer['torch']} is not a build for {self.vendor_name} GPUs: install one that is"
        devices = [Device(**device) for device in answer["devices"]]
        if devices:
            return devices, ""
        hidden = [f"{name}='{os.environ[name]}'" for name in self.visibility if name in os.environ]
        why = f" ({', '.join(hidden)} may hide it)" if hidden else ""
        return [], f"torch {answer['torch']} sees no {self.vendor_name} device here{why}"


def _ask_torch() -> dict[str, Any]:
    """Run the probe in a fresh interpreter, so that this process never touches a runtime."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT,
            env={key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"the driver did not answer within {PROBE_TIMEOUT:.0f} s"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"problem": f"asking torch for devices failed: {last}"}
    return answer


def triton_version() -> str | None:
    """Return the version of the installed Triton without importing it, whoever's distribution it comes from."""
    for distribution in ("triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton"):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def triton_backends() -> set[str]:
    """Return the names of the compilers that the installed Triton would load, without importing it."""
    return {entry.name for entry in importlib.metadata.entry_points(group="triton.backends")}


def _numbers(version: str) -> tuple[int, ...]:
    """``3.9.0+git1234`` as ``(3, 9)``."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
