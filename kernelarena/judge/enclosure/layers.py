"""The layers of isolation by name, and which of them a host provides."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kernelarena.errors import InputError, nearest
from kernelarena.spec.base import Model, StrEnum

SWITCH = "KERNELARENA_ISOLATION_OFF"
"""Names layers, separated by commas, that are to be left out; ``bubblewrap`` leaves out what stands in for them, and
``all`` everything. For tests of what happens where they cannot be had, and for hosts on which one gets in the way."""
_SUBSTITUTE = "bubblewrap"


class Layer(StrEnum):
    """Something that keeps a kernel from what is not its own."""

    USER = "user namespace"
    """Privileges that count within it alone; the others build on it where the judge is not root."""
    PROCESSES = "process namespace"
    """No process but its own can be seen or signalled, and all of them end with the first."""
    FILES = "file system of its own"
    """Interpreter, libraries and toolchains read-only; nothing else of the host."""
    PROC = "process table of its own"
    """``/proc`` shows its own processes alone."""
    NETWORK = "network namespace"
    MEMORY = "shared-memory namespace"
    """System V and POSIX objects of others cannot be reached."""
    HOST = "host-name namespace"
    UNPRIVILEGED = "unprivileged user"
    """It runs as a user that owns nothing; the judge's own, where that is not root."""
    SYSTEM_CALLS = "system-call filter"

    @property
    def key(self) -> str:
        """The name of the layer in :data:`SWITCH`."""
        return self.name.lower().replace("_", "-")


class Isolation(Model):
    """Which layers candidates have."""

    missing: dict[Layer, str] = {}
    """Those that they lack, and why."""
    shared: bool = False
    """Whether candidates share one enclosure (bubblewrap's) in place of the layers that each should have of its own."""

    def has(self, layer: Layer) -> bool:
        """Whether candidates have a layer."""
        return layer not in self.missing

    @property
    def words(self) -> tuple[str, ...]:
        """The missing layers with the reason in brackets, as a verdict notes them; empty when none is missing."""
        return tuple(f"{layer} ({why})" for layer, why in sorted(self.missing.items()))


def switched_off(environment: Mapping[str, str] = os.environ) -> frozenset[Layer]:
    """Return the layers that :data:`SWITCH` leaves out.

    Raises
    ------
    InputError
        If it names something that is no layer.
    """
    known = {layer.key: layer for layer in Layer}
    names = _names(environment)
    if "all" in names:
        return frozenset(Layer)
    for name in names:
        if name not in known and name != _SUBSTITUTE:
            hint = nearest(name, [*known, _SUBSTITUTE, "all"])
            raise InputError(f"{SWITCH}: '{name}' is no layer of isolation; {hint}")
    return frozenset(known[name] for name in names if name in known)


def substitute_allowed(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether bubblewrap may stand in for layers that cannot be had."""
    return not {"all", _SUBSTITUTE} & set(_names(environment))


def _names(environment: Mapping[str, str]) -> list[str]:
    return [name.strip() for name in environment.get(SWITCH, "").split(",") if name.strip()]
