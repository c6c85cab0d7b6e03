"""Numbers that a C++ file settles: literals, and names that stand for one number wherever a compiler looks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from kernelarena.portability.cpp.tree import declared_name, text
from kernelarena.portability.cpp.types import SIZES, integer_bits, plain
from kernelarena.spec import Platform

if TYPE_CHECKING:
    from kernelarena.portability.cpp.unit import CppUnit

_LITERAL = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)")
_DEEP = 40
"""Names that stand for names, at most."""
_SCOPES = frozenset(
    {"translation_unit", "compound_statement", "for_statement", "function_definition", "namespace_definition"}
    | {"lambda_expression", "template_declaration", "declaration_list", "field_declaration_list"}
)
_OPERATORS: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: int(a / b) if b else None,
    "%": lambda a, b: a - b * int(a / b) if b else None,
    "<<": lambda a, b: a << b if 0 <= b < 64 else None,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else None,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


@dataclass(frozen=True)
class Constant:
    """A number that is known.

    Attributes
    ----------
    value
        The number; below zero where it was written so.
    bits
        The width of its type, 32 or 64.
    origin
        Where it is written.
    certain
        Whether ``bits`` is certain: it is not where a name has a type of which nothing is known.
    """

    value: int
    bits: int
    origin: Node
    certain: bool = True


@dataclass(frozen=True)
class _Definition:
    """What a name is given in one place; no value where it may be anything."""

    scope: Node
    node: Node
    value: Node | None
    bits: int | None
    is_default: bool = False

    def typed(self, value: Constant) -> Constant:
        """Return ``value`` as the name has it; a macro leaves the type alone."""
        if self.bits is not None:
            return replace(value, bits=self.bits, certain=True)
        return replace(value, certain=value.certain and self.node.type == "preproc_def")


class Constants:
    """What the names of one file stand for.

    Parameters
    ----------
    unit
        The file.
    """

    def __init__(self, unit: CppUnit) -> None:
        self._unit = unit
        self._changed = _changed(unit)
        self._definitions: dict[str, list[_Definition]] = defaultdict(list)
        for node in unit.nodes("preproc_def"):
            self._add(text(node.child_by_field_name("name")), _Definition(unit.root, node, unit.macro_body(node), None))
        for node in unit.nodes("declaration", "field_declaration"):
            self._declare(node)
        for node in unit.nodes("parameter_declaration", "optional_parameter_declaration"):
            default = node.child_by_field_name("default_value")
            bits = integer_bits(text(node.child_by_field_name("type")))
            name = declared_name(node.child_by_field_name("declarator"))
            self._add(name, _Definition(self._scope(node), node, default, bits, is_default=True))

    def _declare(self, node: Node) -> None:
        bits = integer_bits(text(node.child_by_field_name("type")))
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            self._add(declared_name(declarator), _Definition(self._scope(node), declarator, value, bits))
        default = node.child_by_field_name("default_value")  # of a member
        if default is not None:
            name = declared_name(node.child_by_field_name("declarator"))
            self._definitions[name] = [_Definition(self._scope(node), node, default, bits)]

    def _add(self, name: str, definition: _Definition) -> None:
        self._definitions[name].append(definition)

    def definition(self, use: Node, platform: Platform) -> Node | None:
        """Return the expression that a name is given once and for all where it is declared, as ``platform`` sees it."""
        found = self._resolve(use, platform)
        return found[0].value if len(found) == 1 and not found[0].is_default else None

    def fold(self, node: Node | None, platform: Platform, *, defaults: bool = False) -> Constant | None:
        """Return the number that ``node`` is when it is compiled for ``platform``; None where it is not known.

        Parameters
        ----------
        node
            An expression.
        platform
            The chip that is compiled for.
        defaults
            Whether a parameter counts as what it is when nothing is given for it.
        """
        return self._fold(node, platform, defaults, _DEEP) if node is not None else None

    def _fold(self, node: Node, platform: Platform, defaults: bool, depth: int) -> Constant | None:
        if depth == 0:
            return None

        def fold(child: Node | None) -> Constant | None:
            return self._fold(child, platform, defaults, depth - 1) if child is not None else None

        kind = node.type
        if kind == "number_literal":
            return _literal(node)
        if kind in ("identifier", "field_identifier", "type_identifier"):  # the last: as a template's argument
            return self._named(node, platform, defaults, depth)
        if kind == "parenthesized_expression":
            return fold(node.named_children[0]) if node.named_children else None
        if kind == "unary_expression":
            return _unary(node.children[0].type, fold(node.child_by_field_name("argument")), node)
        if kind == "binary_expression":
            left, right = fold(node.child_by_field_name("left")), fold(node.child_by_field_name("right"))
            return _binary(text(node.child_by_field_name("operator")), left, right, node)
        if kind == "cast_expression":
            return _as(fold(node.child_by_field_name("value")), text(node.child_by_field_name("type")))
        if kind == "call_expression" and text(node.child_by_field_name("function")).startswith("static_cast<"):
            arguments = node.child_by_field_name("arguments")
            given = arguments.named_children if arguments is not None else []
            target = text(node.child_by_field_name("function"))[len("static_cast<") : -1]
            return _as(fold(given[0]), target) if len(given) == 1 else None
        if kind == "sizeof_expression":
            size = SIZES.get(
                plain(text(node.child_by_field_name("type") or node.child_by_field_name("value")).strip("()"))
            )
            return Constant(size, 64, node) if size is not None else None
        return None

    def _named(self, node: Node, platform: Platform, defaults: bool, depth: int) -> Constant | None:
        values: list[Constant] = []
        for definition in self._resolve(node, platform):
            if definition.value is None or (definition.is_default and not defaults):
                return None
            value = self._fold(definition.value, platform, defaults, depth - 1)
            if value is None:
                return None
            values.append(definition.typed(value))
        return values[0] if len({value.value for value in values}) == 1 else None

    def _resolve(self, use: Node, platform: Platform) -> list[_Definition]:
        """Return the definitions that ``use`` may mean: those of the innermost scope around it that has any."""
        name = text(use)
        if name in self._changed:
            return []
        around = [
            definition
            for definition in self._definitions.get(name, ())
            if self._encloses(definition.scope, use) and self._unit.is_live(definition.node, platform)
        ]
        innermost = max((definition.scope.start_byte for definition in around), default=0)
        return [definition for definition in around if definition.scope.start_byte == innermost]

    def _scope(self, node: Node) -> Node:
        return next((each for each in self._unit.ancestors(node) if each.type in _SCOPES), self._unit.root)

    def _encloses(self, scope: Node, use: Node) -> bool:
        return scope == self._unit.root or any(each == scope for each in self._unit.ancestors(use))


def _changed(unit: CppUnit) -> frozenset[str]:
    """Return the names that are assigned, counted up or down, or whose address is taken, anywhere in the file."""
    targets = [node.child_by_field_name("left") for node in unit.nodes("assignment_expression")]
    targets += [node.child_by_field_name("argument") for node in unit.nodes("update_expression")]
    targets += [
        node.child_by_field_name("argument")
        for node in unit.nodes("pointer_expression")
        if node.children[0].type == "&"
    ]
    return frozenset(text(node) for node in targets if node is not None and node.type == "identifier")


def _literal(node: Node) -> Constant | None:
    match = _LITERAL.fullmatch(text(node).replace("'", ""))
    if match is None:
        return None
    sign, digits, suffix = match[1], match[2], match[3].lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    if octal and set(digits) & {"8", "9"}:
        return None
    value = int(digits, 8 if octal else 0)
    return Constant(-value if sign else value, 64 if "l" in suffix or "z" in suffix or value >= 1 << 32 else 32, node)


def _as(value: Constant | None, target: str) -> Constant | None:
    bits = integer_bits(target)
    if value is None or bits is None:
        return None
    return replace(
        value, value=value.value & ((1 << bits) - 1) if bits < value.bits else value.value, bits=bits, certain=True
    )


def _unary(operator: str, value: Constant | None, node: Node) -> Constant | None:
    if value is None:
        return None
    results = {"-": -value.value, "+": value.value, "~": ~value.value & ((1 << value.bits) - 1)}
    return Constant(results[operator], value.bits, node, value.certain) if operator in results else None


def _binary(operator: str, left: Constant | None, right: Constant | None, node: Node) -> Constant | None:
    if left is None or right is None or operator not in _OPERATORS:
        return None
    result = _OPERATORS[operator](left.value, right.value)
    bits = left.bits if operator in ("<<", ">>") else max(left.bits, right.bits)
    return None if result is None else Constant(result, bits, node, left.certain and right.certain)
