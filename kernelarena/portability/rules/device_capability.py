"""``device-capability``: a comparison of numbers that another vendor counts otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.cpp import PROPERTIES
from kernelarena.platforms.dialects.python import CAPABILITY, CAPABILITY_NUMBERS
from kernelarena.portability.cpp.tree import is_field, text
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.finding import Severity
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform

_COMPARING = frozenset({"<", "<=", ">", ">=", "==", "!="})
_BREAKS = (
    "the numbers that are compared are those of another vendor's architectures: the branch that is taken there says"
    " nothing about what the chip can do"
)


class DeviceCapability(Rule):
    """The numbers of an architecture are compared, and nothing asks whose architecture it is."""

    id = "device-capability"
    summary = "A check of the compute capability that lumps another vendor's chips with some of the first."
    severity = Severity.WARNING

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every comparison with those numbers of a device's properties."""
        told = unit.variables(PROPERTIES)
        for node in unit.nodes("binary_expression"):
            operands = [node.child_by_field_name(side) for side in ("left", "right")]
            compares = text(node.child_by_field_name("operator")) in _COMPARING
            if compares and any(each is not None and is_field(each, {"major", "minor"}, told) for each in operands):
                live = [each for each in platforms if unit.is_live(node, each)]
                yield Fault(
                    unit.span(node), where(live, CAPABILITY_NUMBERS.lacks), _BREAKS, "what is needed itself, or #ifdef"
                )

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every comparison with a capability."""
        for node in unit.nodes(ast.Compare):
            operands = [node.left, *node.comparators]
            if any(_is_capability(unit, each) for each in operands) and not unit.is_guarded(node):
                yield Fault(
                    unit.span(node),
                    where(platforms, CAPABILITY_NUMBERS.lacks),
                    _BREAKS,
                    "a question for the vendor first (torch.version.hip), or for what is needed itself",
                )


def _is_capability(unit: PythonUnit, node: ast.expr) -> bool:
    """Return whether it is a capability, or one of its numbers."""
    node = unit.value(node)
    while isinstance(node, ast.Subscript):
        node = unit.value(node.value)
    return isinstance(node, ast.Call) and unit.dotted(node.func) in CAPABILITY
