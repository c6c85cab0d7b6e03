"""``mixed-lanes``: groups of 32 lanes in one place, whole warps of the device in another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelarena.portability.cpp.lanes import HABIT, Grouping, Lanes
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform

_INSTEAD = (
    "one width for both: warpSize throughout, or groups of 32 throughout, with the width 32 handed to every shuffle"
)


class MixedLanes(Rule):
    """A reduction by shuffles spans other groups of lanes than the code around it counts.

    Groups of 32 are right on a wider warp as long as everything agrees on them, so that neither alone is a fault.
    """

    id = "mixed-lanes"
    summary = "A reduction over 32 lanes beside code that counts whole warps of the device, or the reverse."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Compare the groupings of every function that exchanges lanes with those of its callers."""
        breaks: dict[tuple[int, bool], tuple[Grouping, Grouping, list[str]]] = {}
        for platform in platforms:
            if platform.limits is None or platform.limits.warp_size == HABIT:
                continue
            lanes = Lanes(unit, platform)
            for function in unit.functions:
                for exchange in lanes.exchanges.get(function.node.id, ()):
                    other = next(lanes.around(function, lanes.leaders, whole=not exchange.whole), None)
                    same = next(lanes.around(function, lanes.leaders, whole=exchange.whole), None)
                    if other is not None and same is None:
                        place = exchange if not exchange.whole else other
                        key = (place.node.id, exchange.whole)
                        breaks.setdefault(key, (exchange, other, []))[2].append(platform.id)
        for exchange, other, ids in breaks.values():
            here, there = unit.span(exchange.node), unit.span(other.node)
            if exchange.whole:
                said = f"groups of 32 lanes are counted here, and line {here.line} reduces whole warps: lanes are added"
                yield Fault(there, tuple(ids), f"{said} twice", _INSTEAD)
            else:
                said = f"this reduces groups of 32 lanes, and line {there.line} counts whole warps of the device"
                yield Fault(here, tuple(ids), f"{said}: the lanes from 32 on are left out", _INSTEAD)
