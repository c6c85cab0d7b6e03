"""The examination of a host: which platforms, in which order, and what their devices are asked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelarena.platforms.asking import Question, environment
from kernelarena.platforms.backend import Backend, Device, availability
from kernelarena.platforms.catalogue import platform_of
from kernelarena.platforms.doctor import device as device_checks
from kernelarena.platforms.doctor import host as host_checks
from kernelarena.platforms.doctor import runtime as runtime_checks
from kernelarena.platforms.doctor.device import Examined
from kernelarena.platforms.doctor.finding import (
    DeviceReport,
    Diagnosis,
    Finding,
    PlatformReport,
    RuntimeReport,
)
from kernelarena.platforms.doctor.runtime import Runtime
from kernelarena.platforms.doctor.worker import WORKER
from kernelarena.spec import Evidence, Platform

DEVICE_SECONDS = 120.0
"""For a process to import torch, open a device and compute something; a first import from a network disk takes long."""
MANAGEMENT_SECONDS = 60.0
"""For a management library to answer; a driver that has to be woken takes some of it."""


def concerned(platforms: Mapping[str, Platform]) -> list[Platform]:
    """Return the platforms whose chips this host may have: those with a driver here; all where there is none."""
    driven = {name for name in {platform.backend for platform in platforms.values()} if Runtime.of(name).driven}
    return [platform for platform in platforms.values() if platform.backend in driven] or list(platforms.values())


def examine(
    chosen: Sequence[Platform],
    known: Mapping[str, Platform],
    further: Iterable[Finding] = (),
    say: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Look at everything that measuring some platforms rests on.

    Parameters
    ----------
    chosen
        The platforms. All devices of their backends are looked at, also those of no platform.
    known
        Every platform, so that devices are told by name.
    further
        What was found of the host elsewhere.
    say
        Told what is done next, as it takes seconds.
    """
    say("the host")
    host = [finding for check in host_checks.CHECKS for finding in check()]
    runtimes = [Runtime.of(name) for name in dict.fromkeys(platform.backend for platform in chosen)]
    examined = [one for runtime in runtimes for one in _devices(runtime, known, say)]
    return Diagnosis(
        host=(*host, *further),
        runtimes=tuple(
            RuntimeReport(
                backend=runtime.name,
                platforms=tuple(platform.id for platform in chosen if platform.backend == runtime.name),
                findings=tuple(finding for check in runtime_checks.CHECKS for finding in check(runtime)),
            )
            for runtime in runtimes
        ),
        devices=tuple(map(_report, examined)),
        platforms=tuple(_conclusion(platform, examined) for platform in chosen),
    )


@dataclass
class _Asked:
    """A device and what is asked of it."""

    backend: Backend
    device: Device
    managed: dict[str, Any]
    opened: dict[str, Any]


def look_at(backend: Backend, devices: Sequence[Device]) -> list[tuple[Device, dict[str, Any], dict[str, Any]]]:
    """Return each device with what its management library and a process that opened it told.

    The devices of a host are asked at once, but the management library before anything of ours is on a device: who else
    uses it could not be told apart otherwise.
    """
    asked = [_Asked(backend, device, {}, {}) for device in devices]
    with contextlib.ExitStack() as until:
        questions = [until.enter_context(_management(one)) for one in asked]
        for one, question in zip(asked, questions, strict=True):
            one.managed = question.answer()
    with contextlib.ExitStack() as until:
        alone = [_alone(backend, one.device, until) for one in asked]
        for one, tell in zip(asked, alone, strict=True):
            one.opened = tell()
    return [(one.device, one.managed, one.opened) for one in asked]


def _alone(backend: Backend, device: Device, until: contextlib.ExitStack) -> Callable[[], dict[str, Any]]:
    """Have a process open a device that it is shown alone, as a kernel's is; return what gets its answer."""
    try:
        shown = backend.access(device).within(environment())
    except RuntimeError as error:
        problem = {"problem": str(error)}
        return lambda: problem
    question = Question(WORKER, {"about": "device", "backend": backend.name}, DEVICE_SECONDS, shown)
    return until.enter_context(question).answer


def _management(one: _Asked) -> Question:
    order = {"about": "management", "source": one.backend.telemetry, "pci": one.device.pci, "uuid": one.device.uuid}
    return Question(WORKER, order, MANAGEMENT_SECONDS)


def _devices(runtime: Runtime, known: Mapping[str, Platform], say: Callable[[str], None]) -> list[Examined]:
    backend = runtime.backend
    if backend is None or not runtime.driven:
        return []
    say(f"devices of {runtime.name}")
    devices = backend.devices()
    if devices:
        say(f"{', '.join(dict.fromkeys(device.name for device in devices))}")
    return [
        Examined(backend, device, platform_of(backend, device, known.values()), opened, managed)
        for device, managed, opened in look_at(backend, devices)
    ]


def _report(examined: Examined) -> DeviceReport:
    device = examined.device
    return DeviceReport(
        backend=examined.backend.name, index=device.index, name=device.name, arch=device.arch, uuid=device.uuid,
        pci=device.pci, platform=examined.platform.id if examined.platform else None, usable=examined.usable,
        findings=tuple(finding for check in device_checks.CHECKS for finding in check(examined)),
    )  # fmt: skip


def _conclusion(platform: Platform, examined: Sequence[Examined]) -> PlatformReport:
    found = availability(platform)
    mine = [one for one in examined if one.platform is not None and one.platform.id == platform.id]
    evidence, why_not = found.evidence, found.why_not
    if mine and not any(one.usable for one in mine):
        evidence = tuple(kind for kind in evidence if kind is not Evidence.MEASURED)
        why_not = why_not or f"its device cannot be used: {mine[0].opened['problem']}"
    return PlatformReport(
        id=platform.id, title=platform.title, backend=platform.backend, evidence=evidence, why_not=why_not,
        devices=tuple(one.device.index for one in mine),
    )  # fmt: skip
