"""``float8-flavour``: eight bits that mean other numbers on another chip."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects import cpp, python
from kernelarena.portability.cpp.tree import text
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.portability.source import Span
from kernelarena.spec import Platform


class Float8Flavour(Rule):
    """A file names one flavour of an eight-bit type, and not the one that a chip computes in.

    A file that names both flavours knows of the difference, and is left alone. In C++ the first use is reported.
    """

    id = "float8-flavour"
    summary = "One flavour of an eight-bit float, where some chip's own is the other."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every name of a type."""
        nodes = [
            node
            for node in unit.nodes("type_identifier", "identifier")
            if text(node) in cpp.FLOAT8_TYPES and not _is_question(unit, node)
        ]
        named = list(dict.fromkeys(map(text, nodes)))
        for name in named:
            node = next(node for node in nodes if text(node) == name)
            live = [each for each in platforms if unit.is_live(node, each)]
            yield from _faults(unit.span(node), name, named, cpp.FLOAT8_TYPES, live)

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every name of a type."""
        nodes = [node for node in unit.nodes(ast.expr) if isinstance(node, ast.Name | ast.Attribute)]
        known = [(node, name) for node in nodes if (name := unit.dotted(node)) in python.FLOAT8_TYPES]
        for node, name in known:
            if _is_chosen(unit, node) and not unit.is_guarded(node):
                yield from _faults(unit.span(node), name, [each for _, each in known], python.FLOAT8_TYPES, platforms)


def _is_question(unit: CppUnit, node: Node) -> bool:
    """Return whether it stands in a trait that tells types apart (``std::is_same_v<T, …>``)."""
    around = (each for each in unit.ancestors(node) if each.type in ("template_type", "template_function"))
    return any(text(each.child_by_field_name("name")).startswith("is_same") for each in around)


def _is_chosen(unit: PythonUnit, node: ast.expr) -> bool:
    """Return whether something is given the type, rather than compared with it or looked up by it."""
    return isinstance(unit.parent(node), ast.Call | ast.keyword | ast.Assign | ast.AnnAssign)


def _faults(
    span: Span, name: str, named: Sequence[str], types: Mapping[str, tuple[str, str]], platforms: Sequence[Platform]
) -> Iterator[Fault]:
    dtype, flavour = types[name]
    flavours = {types[each][1] for each in named if types[each][0] == dtype}
    if len(flavours) > 1:
        return

    def breaks(platform: Platform) -> bool:
        return dtype in platform.peak_flops and platform.dtype(dtype) != flavour

    ids = where(platforms, breaks)
    natives = sorted({platform.dtype(dtype) for platform in platforms if platform.id in ids})
    yield Fault(
        span,
        ids,
        f"{name} is {flavour}, and the chip's own is {' or '.join(natives)}: the same bits are another number",
        "the dtype of the tensors that are handed in, or a choice by the chip that names both",
    )
