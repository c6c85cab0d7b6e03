"""A backend: what the harness has to know of a vendor's runtime, behind one interface.

Some come with the package; others are installed beside it and found by the entry point group
``kernelarena.backends``, whose names are what platform files call ``backend``.
"""

from __future__ import annotations

import importlib.metadata
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from kernelarena.spec import Evidence, Language, Platform

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice

GROUP = "kernelarena.backends"
"""Entry point group of backends that are installed beside the package."""

_log = logging.getLogger(__name__)
_BUILT_IN = {
    "cpu": "kernelarena.platforms.cpu:CpuBackend",
    "cuda": "kernelarena.platforms.cuda:CudaBackend",
    "rocm": "kernelarena.platforms.rocm:RocmBackend",
    "xpu": "kernelarena.platforms.declared:XpuBackend",
    "npu": "kernelarena.platforms.declared:NpuBackend",
    "musa": "kernelarena.platforms.declared:MusaBackend",
    "corex": "kernelarena.platforms.declared:CorexBackend",
    "maca": "kernelarena.platforms.declared:MacaBackend",
    "dtk": "kernelarena.platforms.declared:DtkBackend",
}


@dataclass(frozen=True)
class Device:
    """One device of this host, as its runtime describes it.

    Attributes
    ----------
    index
        Position in the runtime's own numbering, which is not that of the vendor's management library: across the two,
        match ``pci`` or ``uuid``.
    name
        ``NVIDIA H200``, ``AMD Instinct MI300X``.
    arch
        ``sm_90``, ``gfx942``.
    uuid, pci
        What identifies the physical device; empty where the runtime does not say. ``pci`` is
        ``domain:bus:device``, hexadecimal.
    """

    index: int
    name: str
    arch: str
    uuid: str = ""
    pci: str = ""


@dataclass(frozen=True)
class Access:
    """What a process needs to use one device and no other.

    Attributes
    ----------
    paths
        Device nodes and other files of the host that it must be able to open.
    environment
        Variables that show it that device alone, as number 0; set before the runtime is first touched.
    unset
        Variables that must not be set beside them, because the two together may show another device or none.
    """

    paths: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()

    def within(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return ``environment``, changed so that a process that starts with it is shown the device alone."""
        return {**{name: value for name, value in environment.items() if name not in self.unset}, **self.environment}


@dataclass(frozen=True)
class Availability:
    """What can be known of a platform here and now.

    Attributes
    ----------
    evidence
        Kinds of evidence obtainable on this host, the strongest first; empty where there is none.
    why_not
        Why not more, in one line, with what to do about it where something can be done; empty when nothing lacks.
    """

    evidence: tuple[Evidence, ...]
    why_not: str = ""

    def sought(self, strongest: Evidence | None) -> Availability:
        """Return what is left where no stronger evidence than that is wanted; None: whatever can be had."""
        ranked = list(Evidence)
        wanted = ranked if strongest is None else ranked[ranked.index(strongest) :]
        left = tuple(kind for kind in self.evidence if kind in wanted)
        if left == self.evidence:
            return self
        why_not = "no stronger evidence is sought" if left else f"there is no {strongest} evidence of it"
        return Availability(left, why_not)


class Backend(ABC):
    """What a backend answers. An instance holds no device open and is safe to fork with."""

    name: ClassVar[str]
    """What platform files call it."""
    languages: ClassVar[tuple[Language, ...]] = (Language.TRITON, Language.TORCH)
    """The kernel languages that it can take."""
    architectures: ClassVar[tuple[str, ...]] = ()
    """What its toolchain calls the chips that it builds for; empty where any word may be one."""
    telemetry: ClassVar[str] = ""
    """``package.module:Class`` of the :class:`~kernelarena.platforms.telemetry.Probe` that reads power, clocks and
    temperatures of its devices, in a process of its own; empty where nothing does, and telemetry is null."""

    @abstractmethod
    def devices(self) -> list[Device]:
        """Return the devices that this process could use; an empty list where there is no such runtime.

        Must not initialise the runtime in the calling process, which would break every process forked from it.
        """

    @abstractmethod
    def availability(self, platform: Platform) -> Availability:
        """Return what evidence of ``platform``, one of this backend, can be had here and now."""

    def problems(self, platform: Platform) -> list[tuple[str, str]]:
        """Return what cannot be right in the file of ``platform``, one of this backend: the key, and why."""
        if not self.architectures or platform.arch in self.architectures:
            return []
        known = ", ".join(self.architectures)
        return [("arch", f"the toolchain of backend '{self.name}' builds for no '{platform.arch}'; known: {known}")]

    def match(self, device: Device, platform: Platform) -> bool:
        """Return whether ``device`` is the chip that ``platform`` describes (:class:`~kernelarena.spec.Detect`)."""
        detect = platform.detect
        if not detect.names and detect.arch is None:
            return False
        if detect.arch is not None and device.arch.split(":")[0] != detect.arch:  # gfx942:sramecc+:xnack-
            return False
        if any(_has_word(device.name, word) for word in detect.unless):
            return False
        return not detect.names or any(_has_word(device.name, word) for word in detect.names)

    def triton_target(self, platform: Platform) -> tuple[str, int | str, int] | None:
        """Return Triton's target for ``platform``: its backend, its architecture and the warp size.

        None where Triton has no compiler for the chip.
        """
        return None

    def emulated(self, platform: Platform) -> dict[str, tuple[str, ...]]:
        """Return the instructions, by group, that an emulator of ``platform`` knows; none where there is no such."""
        return {}

    def present(self, platform: Platform) -> list[Device]:
        """Return the devices of this host that are the chip of ``platform``."""
        return [device for device in self.devices() if self.match(device, platform)]

    def access(self, device: Device) -> Access:
        """Return what a process needs to use ``device``; nothing beyond what every process has, unless overridden."""
        return Access()

    def open(self, index: int) -> OpenedDevice:
        """Open a device in this process, which from then on must not be forked.

        A framework that drives the chip as a torch device is opened by
        :class:`~kernelarena.platforms.torch_device.TorchDevice`.

        Parameters
        ----------
        index
            Its number among the devices that this process is shown.

        Raises
        ------
        RuntimeError
            If the runtime refuses.
        """
        raise NotImplementedError(f"backend '{self.name}' runs no kernels")


def _has_word(text: str, word: str) -> bool:
    """Whether ``word`` stands in ``text`` as whole words: ``MI250`` does not stand in ``Instinct MI250X``."""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text, re.IGNORECASE) is not None


def backend_for(platform: Platform) -> Backend | None:
    """Return the backend of ``platform``, or None where none of that name is installed or it does not load."""
    return _backend(platform.backend)


def backend_named(name: str) -> Backend | None:
    """Return the backend of a name, or None where none of that name is installed or it does not load."""
    return _backend(name)


def backend_names() -> list[str]:
    """Return the names of all backends: those of the package, then those installed beside it."""
    return list(dict.fromkeys([*_BUILT_IN, *(entry.name for entry in importlib.metadata.entry_points(group=GROUP))]))


def availability(platform: Platform) -> Availability:
    """Return what evidence of ``platform`` can be had here and now, also where its backend is not installed."""
    backend = backend_for(platform)
    if backend is None:
        return Availability(
            (), f"needs a host with this chip and an installed backend '{platform.backend}' (entry point group {GROUP})"
        )
    return backend.availability(platform)


@cache
def _backend(name: str) -> Backend | None:
    if name in _BUILT_IN:
        backend: Backend = importlib.metadata.EntryPoint(name, _BUILT_IN[name], GROUP).load()()
        return backend
    for entry in importlib.metadata.entry_points(group=GROUP, name=name):
        try:
            plugin = entry.load()()
            if not isinstance(plugin, Backend):
                raise TypeError(f"{entry.value} is not a kernelarena.platforms.backend.Backend")
        except Exception as error:  # someone else's code: whatever it raises, the rest of the harness works without it
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            _log.warning("backend '%s' (%s) does not load and is left out: %s", name, entry.value, reason)
            continue
        return plugin
    return None
