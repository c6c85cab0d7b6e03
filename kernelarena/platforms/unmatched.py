"""Devices of this host that no platform file describes: never taken for another, and never silently left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelarena.platforms.backend import Backend, Device, backend_named, backend_names
from kernelarena.platforms.catalogue import platform_of
from kernelarena.platforms.draft import is_slice
from kernelarena.spec import Platform


@dataclass(frozen=True)
class Found:
    """A device of this host, with the backend that found it and the platform that it is, if it is one."""

    backend: Backend
    device: Device
    platform: Platform | None


def remedy(backend: Backend, device: Device) -> str:
    """Return what to do about a device that no platform file describes."""
    if is_slice(device):
        return "switch MIG off: platform files describe whole chips"
    return f"kab-mc platforms describe --backend {backend.name} --device {device.index}"


def found(platforms: Iterable[Platform]) -> list[Found]:
    """Return every device that a backend finds, in the order of backends and of their numbers."""
    known = list(platforms)
    backends = [backend for name in backend_names() if (backend := backend_named(name)) is not None]
    return [
        Found(backend, device, platform_of(backend, device, known))
        for backend in backends
        for device in backend.devices()
    ]


def unmatched(platforms: Iterable[Platform]) -> list[Found]:
    """Return the devices that no platform file describes."""
    return [each for each in found(platforms) if each.platform is None]
