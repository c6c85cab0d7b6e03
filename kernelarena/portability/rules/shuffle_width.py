"""``shuffle-width``: a lane of a group of 32 is asked for, and one of the whole warp answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.lanes import SHUFFLES
from kernelarena.portability.cpp.lanes import HABIT, Lanes
from kernelarena.portability.cpp.tree import text, walk
from kernelarena.portability.cpp.unit import Call, CppUnit
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform


class ShuffleWidth(Rule):
    """A value is taken from a lane by its number, without a width, in code that counts groups of 32."""

    id = "shuffle-width"
    summary = "A broadcast within groups of 32 lanes that does not say how wide the group is."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every shuffle from a lane that is known, where threads are counted in groups of 32."""
        found: dict[int, tuple[Call, list[str]]] = {}
        for platform in platforms:
            if platform.limits is None or platform.limits.warp_size <= HABIT:
                continue
            lanes = Lanes(unit, platform)
            for call in unit.calls:
                if self._is_bare(unit, call, platform) and self._counts_in_32(unit, lanes, call):
                    found.setdefault(call.node.id, (call, []))[1].append(platform.id)
        for call, ids in found.values():
            yield Fault(
                unit.span(call.node),
                tuple(ids),
                f"{call.name} reads a lane of the whole warp: the second 32 lanes get the value of the first group",
                f"{call.name}(…, 32), which reads within the caller's group",
            )

    def _is_bare(self, unit: CppUnit, call: Call, platform: Platform) -> bool:
        shuffle = SHUFFLES.get(call.name)
        if shuffle is None or shuffle.relative or len(call.arguments) != shuffle.width:
            return False
        lane = unit.constants.fold(call.arguments[shuffle.lane], platform)
        return lane is not None and lane.value < HABIT and unit.is_live(call.node, platform)

    def _counts_in_32(self, unit: CppUnit, lanes: Lanes, call: Call) -> bool:
        function = unit.function_of(call.node)
        if function is None or _is_for_one_group(unit, call.node):
            return False
        narrow = next(lanes.around(function, lanes.indices, whole=False), None)
        return narrow is not None and next(lanes.around(function, lanes.indices, whole=True), None) is None


def _is_for_one_group(unit: CppUnit, node: Node) -> bool:
    """Return whether it stands in a branch that one group takes (``if (warp == 0)``, ``if (threadIdx.x < 32)``)."""
    conditions = [each.child_by_field_name("condition") for each in unit.ancestors(node) if each.type == "if_statement"]
    return any(
        each.type == "binary_expression" and text(each.child_by_field_name("operator")) in ("==", "<", "<=")
        for condition in conditions
        if condition is not None
        for each in walk(condition)
    )
