"""What a pipeline should fail on: ``new-failures,slower:5%,spills``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelarena.errors import InputError, nearest
from kernelarena.metrics.comparison._compare import Comparison
from kernelarena.metrics.comparison._outcomes import Change
from kernelarena.metrics.comparison._resources import ResourceChange
from kernelarena.metrics.comparison._times import Pace

_Finder = Callable[[Comparison, float], list[str]]
_WORD = re.compile(r"([a-z-]+)(?::(\d+(?:\.\d+)?)%)?")


@dataclass(frozen=True)
class Condition:
    """One thing to fail on."""

    name: str
    threshold: float = 0.0
    """As a share: 0.05 reads 5 %."""

    def __str__(self) -> str:
        return f"{self.name}:{self.threshold * 100:g}%" if self.threshold else self.name


@dataclass(frozen=True)
class Breach:
    """A condition that holds, and where."""

    condition: Condition
    places: tuple[str, ...]
    """Each names a kernel, a platform and what happened; at least one."""


def _outcomes(*changes: Change) -> _Finder:
    def find(found: Comparison, threshold: float) -> list[str]:
        return [
            f"{outcome.new.kernel} on {outcome.new.platform} ({outcome.new.reason})"
            for outcome in found.changed(*changes)
        ]

    return find


def _missing(found: Comparison, threshold: float) -> list[str]:
    return [f"{verdict.kernel} on {verdict.platform} (no verdict)" for verdict in found.only_base]


def _slower(found: Comparison, threshold: float) -> list[str]:
    return [
        f"{change.kernel} on {change.platform} ({change.shape}: {change.ratio - 1:+.1%})"
        for change in found.paced(Pace.SLOWER)
        if change.ratio - 1 >= threshold
    ]


def _resource(*names: str) -> _Finder:
    def beyond(change: ResourceChange, threshold: float) -> bool:
        worse = change.worse or (change.resource == "registers" and change.new > change.base)
        return change.resource in names and worse and abs(change.growth) >= threshold

    def find(found: Comparison, threshold: float) -> list[str]:
        return [_grown(change) for change in found.resources if beyond(change, threshold)]

    return find


def _grown(change: ResourceChange) -> str:
    what = change.resource.replace("_", " ")
    return f"{change.kernel} on {change.platform} ({change.function}: {what} {change.base:g} to {change.new:g})"


_FINDERS: dict[str, tuple[_Finder, bool, str]] = {
    "new-failures": (_outcomes(Change.NEW_FAILURE), False, "cells that passed and fail now"),
    "other-failures": (_outcomes(Change.OTHER_FAILURE), False, "cells that fail now for another reason"),
    "lost": (_outcomes(Change.LOST), False, "cells that were judged and of which nothing is known now"),
    "missing": (_missing, False, "cells of BASE that are not in NEW"),
    "slower": (_slower, True, "shapes that take longer, beyond noise and by at least so much"),
    "spills": (_resource("spills"), True, "registers spilled to memory, more than before"),
    "scratch": (_resource("scratch"), True, "private memory, more than before"),
    "shared-memory": (_resource("shared_memory"), True, "shared memory, more than before"),
    "occupancy": (_resource("occupancy"), True, "occupancy, less than before"),
    "registers": (_resource("registers"), True, "registers, more than before"),
    "resources": (
        _resource("spills", "scratch", "shared_memory", "occupancy"),
        True,
        "any of spills, scratch, shared memory and occupancy",
    ),
}
CONDITIONS = {name: meaning for name, (_, _, meaning) in _FINDERS.items()}
"""What can be failed on, and what it means."""


def parse(text: str) -> list[Condition]:
    """Return the conditions that ``new-failures,slower:5%`` asks for.

    Raises
    ------
    InputError
        If one of them is unknown, or has a threshold that it cannot have.
    """
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        match = _WORD.fullmatch(word)
        name = match[1] if match else word.partition(":")[0]
        if name not in _FINDERS:
            raise InputError(f"--fail-on {word}: no such condition; {nearest(name, _FINDERS)}")
        if match is None:
            raise InputError(f"--fail-on {word}: a threshold is a percentage, as in {name}:5%")
        if match[2] and not _FINDERS[name][1]:
            raise InputError(f"--fail-on {word}: {name} has no threshold; leave it out")
        found.append(Condition(name, float(match[2] or 0) / 100))
    if not found:
        raise InputError(f"--fail-on: names nothing; known: {', '.join(_FINDERS)}")
    return found


def breaches(found: Comparison, conditions: Sequence[Condition]) -> list[Breach]:
    """Return the conditions that hold."""
    places = [(condition, _FINDERS[condition.name][0](found, condition.threshold)) for condition in conditions]
    return [Breach(condition, tuple(where)) for condition, where in places if where]
