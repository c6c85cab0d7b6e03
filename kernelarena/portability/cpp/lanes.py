"""How a C++ kernel groups lanes: into groups of a number that it writes down, or into whole warps of the device.

Either alone carries over. Code for groups of 32 is right on a wavefront of 64 as well, which then holds two groups,
and code that asks for the width is right for any. What breaks is their mixture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from kernelarena.platforms.dialects.lanes import SHUFFLES, THREADS, WIDTHS
from kernelarena.portability.cpp.tree import mentions, text, walk
from kernelarena.portability.cpp.unit import Call, CppUnit, Function
from kernelarena.spec import Platform

HABIT = 32
"""Lanes that code assumes which never met a wider warp."""


@dataclass(frozen=True)
class Grouping:
    """A place where code settles how many lanes make a group.

    Attributes
    ----------
    node
        Where.
    whole
        Whether the group is the device's whole warp, rather than :data:`HABIT` lanes of it.
    """

    node: Node
    whole: bool


class Lanes:
    """The groupings of one file as one platform sees it.

    Parameters
    ----------
    unit
        The file.
    platform
        A chip whose warps are wider than :data:`HABIT`.
    """

    def __init__(self, unit: CppUnit, platform: Platform) -> None:
        self._unit, self._platform = unit, platform
        assert platform.limits is not None
        self._width = platform.limits.warp_size
        self.exchanges: dict[int, list[Grouping]] = defaultdict(list)
        """Reductions and scans by shuffles, by the id of the function's node."""
        self.leaders: dict[int, list[Grouping]] = defaultdict(list)
        """Where one lane of each group is told from the others, or groups are counted."""
        self.indices: dict[int, list[Grouping]] = defaultdict(list)
        """Where a thread's place in its group is computed."""
        for call in unit.calls:
            self._exchange(call)
        for node in unit.nodes("binary_expression"):
            self._index(node)

    def around(self, function: Function, found: dict[int, list[Grouping]], *, whole: bool) -> Iterator[Grouping]:
        """Yield the groupings of a kind in a function and in those that call it."""
        for each in self._unit.callers(function):
            yield from (grouping for grouping in found.get(each.node.id, ()) if grouping.whole == whole)

    def _exchange(self, call: Call) -> None:
        shuffle, function = SHUFFLES.get(call.name), self._unit.function_of(call.node)
        if shuffle is None or function is None or not shuffle.relative or len(call.arguments) <= shuffle.lane:
            return
        if not self._unit.is_live(call.node, self._platform):
            return
        if len(call.arguments) > shuffle.width:
            whole = self._is_whole(call.arguments[shuffle.width], 1)
        else:
            whole = self._reach(call.arguments[shuffle.lane], call.node)
        if whole is not None:
            self.exchanges[function.node.id].append(Grouping(call.node, whole))

    def _reach(self, offset: Node, call: Node) -> bool | None:
        """Return whether the offsets of a loop of shuffles end at the whole warp, or at half of 32; None if neither."""
        loop = next((each for each in self._unit.ancestors(call) if each.type == "for_statement"), None)
        start = start_of(loop, text(offset)) if loop is not None else None
        if loop is None or start is None:
            return None
        whole = self._is_whole(start, 2)
        if whole is not None:
            return whole
        condition = loop.child_by_field_name("condition")
        first = self._unit.constants.fold(start, self._platform)
        if condition is None or first is None or first.value != 1 or condition.type != "binary_expression":
            return None
        below = {"<": 1, "<=": 2}.get(text(condition.child_by_field_name("operator")))
        end = condition.child_by_field_name("right")
        return self._is_whole(end, below) if below is not None and end is not None else None

    def _is_whole(self, node: Node, factor: int) -> bool | None:
        if mentions(node, WIDTHS):
            return True
        number = self._unit.constants.fold(node, self._platform)
        return {self._width: True, HABIT: False}.get(number.value * factor) if number is not None else None

    def _index(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        function = self._unit.function_of(node)
        operator = text(node.child_by_field_name("operator"))
        if left is None or right is None or function is None or operator not in ("%", "&", "/", ">>"):
            return
        whole = self._group_of(operator, right)
        if (
            whole is None
            or not is_of_thread(self._unit, left, self._platform)
            or not self._unit.is_live(node, self._platform)
        ):
            return
        grouping = Grouping(node, whole)
        if operator in ("%", "&"):
            self.indices[function.node.id].append(grouping)
        if operator in ("/", ">>") or self._singles_out(node, function):
            self.leaders[function.node.id].append(grouping)

    def _group_of(self, operator: str, right: Node) -> bool | None:
        if operator in ("%", "/"):
            return self._is_whole(right, 1)
        if mentions(right, WIDTHS):
            return True
        number = self._unit.constants.fold(right, self._platform)
        if number is None or not 0 <= number.value < 1 << 16:
            return None
        size = number.value + 1 if operator == "&" else 1 << min(number.value, 16)
        return {self._width: True, HABIT: False}.get(size)

    def _singles_out(self, index: Node, function: Function) -> bool:
        """Return whether the place in a group is compared with that of its first lane."""
        around = next((each for each in self._unit.ancestors(index) if each.type != "parenthesized_expression"), None)
        if around is None:
            return False
        if around.type == "binary_expression":
            return self._is_first(around)
        if around.type != "init_declarator":
            return False
        name = text(around.child_by_field_name("declarator"))
        comparisons = (each for each in walk(function.node) if each.type == "binary_expression")
        return any(text(each.child_by_field_name("left")) == name and self._is_first(each) for each in comparisons)

    def _is_first(self, comparison: Node) -> bool:
        if text(comparison.child_by_field_name("operator")) != "==":
            return False
        number = self._unit.constants.fold(comparison.child_by_field_name("right"), self._platform)
        return number is not None and number.value == 0


def is_of_thread(unit: CppUnit, node: Node, platform: Platform) -> bool:
    """Return whether an expression is computed from the thread's index, directly or by a name that is given one."""
    if mentions(node, THREADS):
        return True
    names = [each for each in walk(node) if each.type == "identifier"]
    values = [unit.constants.definition(name, platform) for name in names[:4]]
    return any(value is not None and mentions(value, THREADS) for value in values)


def start_of(loop: Node, variable: str) -> Node | None:
    """Return what a loop's variable starts from."""
    initializer = loop.child_by_field_name("initializer")
    if initializer is None:
        return None
    for node in walk(initializer):
        if node.type == "init_declarator" and text(node.child_by_field_name("declarator")) == variable:
            return node.child_by_field_name("value")
        if node.type == "assignment_expression" and text(node.child_by_field_name("left")) == variable:
            return node.child_by_field_name("right")
    return None
