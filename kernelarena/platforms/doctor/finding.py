"""What an examination comes to: findings, and whether a platform can be measured."""

from __future__ import annotations

from kernelarena.spec import Evidence
from kernelarena.spec.base import Model, StrEnum

SCHEMA = "kernelarena.doctor/1"
"""Of :class:`Diagnosis` in JSON. Fields are added, never renamed."""


class State(StrEnum):
    """How a finding is to be taken."""

    OK = "ok"
    WARNING = "warning"
    """It works, and something about it costs time, figures or safety."""
    MISSING = "missing"
    """It is not there, or does not work."""


class Finding(Model):
    """One thing that was looked at."""

    check: str
    """What was looked at, in a word or two: ``driver``, ``clocks``. The same for every vendor."""
    state: State
    found: str
    """What was found, in one line."""
    remedy: str = ""
    """What to do about it, in one line; empty where there is nothing to do."""


def ok(check: str, found: str) -> Finding:
    """Return a finding that is as it should be."""
    return Finding(check=check, state=State.OK, found=found)


def warning(check: str, found: str, remedy: str = "") -> Finding:
    """Return a finding that one should know of."""
    return Finding(check=check, state=State.WARNING, found=found, remedy=remedy)


def missing(check: str, found: str, remedy: str = "") -> Finding:
    """Return a finding of something that is not there."""
    return Finding(check=check, state=State.MISSING, found=found, remedy=remedy)


class RuntimeReport(Model):
    """What holds for all chips of one backend."""

    backend: str
    platforms: tuple[str, ...]
    """Those that were examined, by id."""
    findings: tuple[Finding, ...]


class DeviceReport(Model):
    """One device of this host."""

    backend: str
    index: int
    """Its number, as its runtime counts."""
    name: str
    arch: str
    uuid: str
    pci: str
    platform: str | None
    """The platform that it is; None for a device that no platform file describes."""
    usable: bool
    """Whether a process that is shown it alone computed something on it."""
    findings: tuple[Finding, ...]


class PlatformReport(Model):
    """What it comes to for one platform."""

    id: str
    title: str
    backend: str
    evidence: tuple[Evidence, ...]
    """What can be had here and now, the strongest first."""
    devices: tuple[int, ...]
    """Its devices in this host, by their numbers; those that cannot be used are among them."""
    why_not: str
    """Why it cannot be measured, in one line, with what to do about it; empty where it can."""

    @property
    def available(self) -> bool:
        """Whether kernels run for it here: on a device, or emulated where it has none by its nature."""
        if Evidence.COMPILED in self.evidence:
            return Evidence.MEASURED in self.evidence
        return bool(self.evidence)


class Diagnosis(Model):
    """Everything that was found."""

    host: tuple[Finding, ...]
    """What holds whatever the chip."""
    runtimes: tuple[RuntimeReport, ...]
    devices: tuple[DeviceReport, ...]
    platforms: tuple[PlatformReport, ...]
