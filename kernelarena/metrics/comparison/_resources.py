"""How what compiled kernels need differs between two runs: known without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kernelarena.spec import Launch, Resources, Verdict

RESOURCES: dict[str, Callable[[float, float], bool] | None] = {
    "spills": float.__gt__,
    "scratch": float.__gt__,
    "shared_memory": float.__gt__,
    "occupancy": float.__lt__,
    "registers": None,
}
"""Figures of a launch that are compared, and when the new one is worse than the old one. More registers are neither
good nor bad: what they cost shows in occupancy."""


@dataclass(frozen=True)
class ResourceChange:
    """One figure of one device function of a cell, where it changed most for the worse, or else for the better."""

    task: str
    kernel: str
    platform: str
    function: str
    resource: str
    """One of `RESOURCES`."""
    base: float
    new: float
    signature: str = ""
    """Of the specialisation that it was seen in; empty where no specialisation is in both runs, so that the worst of
    the one is held against the worst of the other."""

    @property
    def worse(self) -> bool:
        """Whether that is a change for the worse."""
        worse = RESOURCES[self.resource]
        return worse is not None and worse(self.new, self.base)

    @property
    def growth(self) -> float:
        """``new / base - 1``; infinite from 0."""
        return self.new / self.base - 1 if self.base else float("inf")


def resource_changes(base: Verdict, new: Verdict) -> list[ResourceChange]:
    """Return what changed in the resources of a cell, one entry for each device function and figure.

    Specialisations are held against their like: the same device function, signature, warps and stages. Where none is in
    both runs (a signature is spelled otherwise, a heuristic chose other warps) the worst figures of the function are
    compared. Configurations that an autotuner only tried count where there is nothing else. Functions that are in one
    run only are not compared.
    """
    before, after = _functions(base.launches), _functions(new.launches)
    found = []
    for function in before.keys() & after.keys():
        found += _function(base, function, before[function], after[function])
    order = {function: at for at, function in enumerate(before)}
    return sorted(found, key=lambda change: order[change.function])


_Key = tuple[str, int, int | None]


def _functions(launches: Iterable[Launch]) -> dict[str, list[Launch]]:
    groups: dict[str, list[Launch]] = {}
    for launch in launches:
        if launch.resources is not None and launch.reason is None:
            groups.setdefault(launch.kernel, []).append(launch)
    return {function: [launch for launch in group if not launch.tuning] or group for function, group in groups.items()}


def _function(cell: Verdict, function: str, before: list[Launch], after: list[Launch]) -> list[ResourceChange]:
    own, others = _by_key(before), _by_key(after)
    common = [key for key in own if key in others]
    pairs = [(key[0], [own[key]], [others[key]]) for key in common] or [("", [*own.values()], [*others.values()])]
    found = []
    for resource in RESOURCES:
        changes = []
        for signature, old, now in pairs:
            left, right = _worst(resource, old), _worst(resource, now)
            if left is not None and right is not None and left != right:
                place = (cell.task, cell.kernel, cell.platform, function)
                changes.append(ResourceChange(*place, resource, left, right, signature))
        if changes:
            found.append(max(changes, key=lambda change: (change.worse, abs(change.new - change.base))))
    return found


def _by_key(launches: list[Launch]) -> dict[_Key, Resources]:
    return {
        (launch.signature, launch.resources.warps, launch.resources.stages): launch.resources
        for launch in launches
        if launch.resources is not None
    }


def _worst(resource: str, found: list[Resources]) -> float | None:
    values = [float(value) for each in found if (value := getattr(each, resource)) is not None]
    if not values:
        return None
    return min(values) if resource == "occupancy" else max(values)
