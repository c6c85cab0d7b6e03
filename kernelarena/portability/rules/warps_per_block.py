"""``warps-per-block``: a fixed number of warps beside code that asks how wide they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.portability.cpp.lanes import HABIT, Lanes
from kernelarena.portability.cpp.tree import text, walk
from kernelarena.portability.cpp.unit import CppUnit, Function
from kernelarena.portability.finding import Severity
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform


class WarpsPerBlock(Rule):
    """Each warp leaves its part in an array of a fixed size, by ``threadIdx.x / warpSize``, and all of it is read.

    Of the same threads a chip with wider warps makes fewer of them, and what they would have written is read unwritten.
    """

    id = "warps-per-block"
    summary = "A fixed number of warps whose parts are all read, where wider warps are fewer."
    severity = Severity.WARNING

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every array in shared memory that whole warps write to and a fixed number of threads reads."""
        found: dict[int, tuple[Node, int, int, list[str]]] = {}
        for platform in platforms:
            if platform.limits is None or platform.limits.warp_size <= HABIT:
                continue
            lanes = Lanes(unit, platform)
            for function in unit.functions:
                whole = [each.node for each in lanes.leaders.get(function.node.id, ()) if each.whole]
                for place, slots in _all_read(unit, function, whole, platform) if whole else ():
                    width = platform.limits.warp_size
                    found.setdefault(place.id, (place, slots, width, []))[3].append(platform.id)
        for place, slots, width, ids in found.values():
            yield Fault(
                unit.span(place),
                tuple(ids),
                f"{slots} parts are read: {slots * HABIT} threads are that many warps of {HABIT} lanes, and"
                f" {slots * HABIT // width} of {width}, so that the others were never written",
                "(blockDim.x + warpSize - 1) / warpSize for the number of warps",
            )


def _all_read(unit: CppUnit, function: Function, whole: list[Node], platform: Platform) -> Iterator[tuple[Node, int]]:
    """Yield the conditions under which all of an array is read that whole warps write to, and its size."""
    sizes = dict(_shared_arrays(unit, function, platform))
    elements = [node for node in walk(function.node) if node.type == "subscript_expression"]
    written = {
        _array(node) for node in elements if _is_written(unit, node) and _is_by_warp(unit, node, whole, platform)
    }
    for element in elements:
        slots = sizes.get(_array(element)) if _array(element) in written else None
        if slots is None or _is_written(unit, element) or not unit.is_live(element, platform):
            continue
        bound = next((each for each in _bounds(unit, element) if _folds_to(unit, each, slots, platform)), None)
        if bound is not None:
            yield bound, slots


def _shared_arrays(unit: CppUnit, function: Function, platform: Platform) -> Iterator[tuple[str, int]]:
    for node in walk(function.node):
        if node.type == "declaration" and any(text(child) == "__shared__" for child in node.children):
            for declarator in node.children_by_field_name("declarator"):
                size = unit.constants.fold(declarator.child_by_field_name("size"), platform)
                if size is not None:
                    yield text(declarator.child_by_field_name("declarator")), size.value


def _array(element: Node) -> str:
    return text(element.child_by_field_name("argument"))


def _is_written(unit: CppUnit, element: Node) -> bool:
    around = next(unit.ancestors(element), None)
    return (
        around is not None and around.type == "assignment_expression" and around.child_by_field_name("left") == element
    )


def _is_by_warp(unit: CppUnit, element: Node, whole: list[Node], platform: Platform) -> bool:
    """Return whether an element is chosen by the number of the thread's warp."""
    for node in walk(element):
        if node in whole or (node.type == "identifier" and unit.constants.definition(node, platform) in whole):
            return True
    return False


def _bounds(unit: CppUnit, element: Node) -> Iterator[Node]:
    """Yield what stands right of ``<`` in the conditions that an element is read under, the nearest first."""
    for around in unit.ancestors(element):
        condition = around.child_by_field_name("condition")
        for each in walk(condition) if condition is not None else ():
            right = each.child_by_field_name("right") if each.type == "binary_expression" else None
            if right is not None and text(each.child_by_field_name("operator")) == "<":
                yield right


def _folds_to(unit: CppUnit, node: Node, number: int, platform: Platform) -> bool:
    value = unit.constants.fold(node, platform)
    return value is not None and value.value == number
