"""Steps of a reduction or scan through memory: each lane combines its element with that of another lane.

``s[t] += s[t + 16]`` is one. What it reads another lane has written in the step before, and between the two something
has to make sure of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from kernelarena.platforms.dialects.lanes import ORDERS
from kernelarena.portability.cpp.lanes import is_of_thread, start_of
from kernelarena.portability.cpp.tree import declared_name, text, walk
from kernelarena.portability.cpp.unit import CppUnit, Function
from kernelarena.spec import Platform


@dataclass(frozen=True)
class Step:
    """An assignment to an element of what an element at an offset from it holds.

    Attributes
    ----------
    node
        The assignment.
    array, index
        As they are written.
    offset
        From the lane's own element to the other's.
    """

    node: Node
    array: str
    index: Node
    offset: Node


@dataclass(frozen=True)
class Unordered:
    """Two steps with nothing between them that orders them, or one of a loop and itself in the next round.

    Attributes
    ----------
    first, second
        The steps; the same one where a loop repeats it.
    offset
        From which the second reads what the first wrote; where a loop's starts from.
    """

    first: Step
    second: Step
    offset: Node


def unordered(unit: CppUnit, function: Function) -> Iterator[Unordered]:
    """Yield the pairs of steps in a function between which other lanes need not have come as far."""
    steps = list(_steps(function.node))
    barriers = [node.start_byte for node in walk(function.node) if _orders(node)] if steps else []

    def ordered(start: int, end: int) -> bool:
        return any(start <= barrier < end for barrier in barriers)

    last: dict[tuple[str, str], Step] = {}
    for step in steps:
        loop = next((each for each in unit.ancestors(step.node) if each.type == "for_statement"), None)
        start = start_of(loop, text(step.offset)) if loop is not None else None
        if loop is not None and start is not None and not ordered(loop.start_byte, loop.end_byte):
            yield Unordered(step, step, start)
        before = last.get((step.array, text(step.index)))
        last[step.array, text(step.index)] = step
        if before is None or ordered(before.node.end_byte, step.node.start_byte):
            continue
        if not _either_or(unit, before.node, step.node):
            yield Unordered(before, step, step.offset)


def lanes_of(unit: CppUnit, function: Function, step: Node, platform: Platform) -> int | None:
    """Return how many threads of a block take a step; None where nothing around it, or around its callers, says so."""
    for place in (step, *(call.node for call in unit.calls if call.name == function.name)):
        inner = place
        for around in unit.ancestors(place):
            condition = around.child_by_field_name("condition") if around.type == "if_statement" else None
            if condition is not None and inner == around.child_by_field_name("consequence"):
                bound = _bound(unit, condition, platform)
                if bound is not None:
                    return bound
            inner = around
    return None


def _bound(unit: CppUnit, condition: Node, platform: Platform) -> int | None:
    for node in walk(condition):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "binary_expression" or left is None or right is None:
            continue
        excess = {"<": 0, "<=": 1}.get(text(node.child_by_field_name("operator")))
        number = unit.constants.fold(right, platform) if excess is not None else None
        if excess is not None and number is not None and is_of_thread(unit, left, platform):
            return number.value + excess
    return None


def _steps(function: Node) -> Iterator[Step]:
    for node in walk(function):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "assignment_expression" or left is None or right is None:
            continue
        array, index = _element(left)
        for other in walk(right) if index is not None else ():
            its, place = _element(other)
            if its != array or place is None or place.type != "binary_expression":
                continue
            base, offset = place.child_by_field_name("left"), place.child_by_field_name("right")
            if index is not None and offset is not None and text(base) == text(index):
                yield Step(node, array, index, offset)
                break


def _element(node: Node) -> tuple[str, Node | None]:
    indices = node.child_by_field_name("indices") if node.type == "subscript_expression" else None
    if indices is None or len(indices.named_children) != 1:
        return "", None
    return text(node.child_by_field_name("argument")), indices.named_children[0]


def _orders(node: Node) -> bool:
    if node.type == "call_expression":
        return ORDERS.search(text(node.child_by_field_name("function"))) is not None
    return node.type == "gnu_asm_expression" or (node.type == "identifier" and ORDERS.search(text(node)) is not None)


def _either_or(unit: CppUnit, one: Node, other: Node) -> bool:
    """Return whether two nodes stand in branches of which one alone is taken."""
    above = {node.id: node for node in unit.ancestors(one)}
    below = other
    for common in unit.ancestors(other):
        if common.id in above:
            return below.type in ("else_clause", "case_statement") or below.type.startswith("preproc_el")
        below = common
    return False


def takes(function: Function, name: str) -> bool:
    """Return whether a function has a parameter of that name."""
    declared = (node for node in walk(function.node) if node.type == "parameter_declaration")
    return name in (declared_name(node.child_by_field_name("declarator")) for node in declared)


def qualifiers(unit: CppUnit, function: Function, array: str) -> frozenset[str] | None:
    """Return what a function, or the file around it, declares an array or a pointer to be; None if it is unknown."""
    for scope in (function.node, unit.root):
        for node in walk(scope) if scope is function.node else scope.children:
            if node.type not in ("declaration", "parameter_declaration"):
                continue
            if array in map(declared_name, node.children_by_field_name("declarator")):
                return frozenset(text(child) for child in node.children)
    return None
