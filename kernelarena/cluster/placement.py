"""Which Ray resources an actor needs to judge a platform's cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from kernelarena.platforms.backend import backend_for
from kernelarena.spec import Evidence, Platform


@dataclass(frozen=True)
class Placement:
    """Where an actor may run. Cells of equal placement share actors.

    Attributes
    ----------
    resource
        The custom resource of the platform (``platform:<id>``), of which a host announces one per device; None for
        work that any processor can do.
    share
        How many actors share one device.
    """

    resource: str | None = None
    share: int = 1

    def options(self) -> dict[str, Any]:
        """Return Ray's actor options. An actor is never restarted by Ray: the schedule decides what is tried again."""
        options: dict[str, Any] = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0}
        if self.resource is not None:
            # `num_gpus` makes Ray show the actor one device and no other, also where it is a part of one.
            part = 1 / self.share
            options |= {"num_gpus": part, "resources": {self.resource: part}}
        return options


def placement(platform: Platform, evidence: Collection[Evidence], share: int = 1) -> Placement:
    """Return where cells of ``platform`` are judged: on its own devices where that is implemented, else anywhere."""
    return Placement(platform.ray.resource, share) if Evidence.MEASURED in evidence else Placement()


@dataclass(frozen=True)
class Announcement:
    """What a host tells Ray about its devices.

    Attributes
    ----------
    devices
        How many there are in all, of any platform.
    resources
        How many there are of each platform, by its resource.
    """

    devices: int
    resources: dict[str, float]


def announcement(platforms: Iterable[Platform]) -> Announcement:
    """Return what this host can announce for ``platforms``: devices are looked for, and none is opened."""
    found: set[tuple[str, int]] = set()
    resources: dict[str, float] = {}
    for platform in platforms:
        backend = backend_for(platform)
        present = backend.present(platform) if backend is not None else []
        found |= {(platform.backend, device.index) for device in present}
        if present:
            resources[platform.ray.resource] = float(len(present))
    return Announcement(len(found), resources)
