"""``ballot-width``: an answer with a bit for each lane, squeezed into 32 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.lanes import BALLOTS, BITS
from kernelarena.portability.cpp.tree import text
from kernelarena.portability.cpp.types import integer_bits
from kernelarena.portability.cpp.unit import Call, CppUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform


class BallotWidth(Rule):
    """The result of a vote is kept in a 32-bit integer, or looked at by a function for 32 bits."""

    id = "ballot-width"
    summary = "A vote's answer in 32 bits, which loses the upper lanes of a 64-lane wavefront."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at what becomes of the result of every vote."""
        for call in unit.calls:
            if call.name in BALLOTS and call.name not in unit.defined_names:
                narrow = _narrowed(unit, call.node)
                if narrow is not None:
                    yield from self._fault(unit, platforms, call, call.node, narrow)
            elif call.name in BITS and len(call.arguments) == 1 and call.arguments[0].type == "identifier":
                yield from self._looked_at(unit, platforms, call)

    def _looked_at(self, unit: CppUnit, platforms: Sequence[Platform], call: Call) -> Iterator[Fault]:
        """Find a vote that is kept in a wide variable and then counted in 32 bits."""
        for platform in platforms[:1]:
            value = unit.constants.definition(call.arguments[0], platform)
            vote = next((each for each in unit.calls if value is not None and each.node == value), None)
            if vote is not None and vote.name in BALLOTS and _narrowed(unit, vote.node) is None:
                yield from self._fault(unit, platforms, vote, call.node, call.name)

    def _fault(
        self, unit: CppUnit, platforms: Sequence[Platform], vote: Call, place: Node, narrow: str
    ) -> Iterator[Fault]:
        def breaks(platform: Platform) -> bool:
            wide = platform.limits is not None and platform.limits.warp_size > 32
            return wide and unit.is_live(place, platform)

        twin = BITS.get(narrow)
        yield Fault(
            unit.span(place),
            where(platforms, breaks),
            f"{vote.name} answers with 64 bits, and {narrow} takes the lower 32: lanes 32 to 63 are lost",
            f"{twin}, after a cast to unsigned long long" if twin else "auto, or unsigned long long",
        )


def _narrowed(unit: CppUnit, vote: Node) -> str | None:
    """Return what makes 32 bits of a vote: the type that it is kept in, or the function that it is handed to."""
    previous = vote
    for around in unit.ancestors(vote):
        if around.type in ("parenthesized_expression", "argument_list"):
            previous = around
            continue
        if around.type == "init_declarator":
            declaration = next(iter(unit.ancestors(around)))
            return _narrow_type(text(declaration.child_by_field_name("type")))
        if around.type == "cast_expression":
            return _narrow_type(text(around.child_by_field_name("type")))
        if around.type == "call_expression" and previous == around.child_by_field_name("arguments"):
            function = text(around.child_by_field_name("function"))
            if function.startswith("static_cast<"):
                return _narrow_type(function[len("static_cast<") : -1])
            return function if function in BITS else None
        if around.type == "return_statement":
            function_node = unit.function_of(around)
            return _narrow_type(text(function_node.node.child_by_field_name("type"))) if function_node else None
        return None
    return None


def _narrow_type(name: str) -> str | None:
    return name if integer_bits(name) == 32 else None
