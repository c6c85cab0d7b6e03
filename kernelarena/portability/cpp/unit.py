"""One C++ file: its tree, the calls and functions in it, and what a name in it stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from kernelarena.portability.cpp import brackets, preprocessor
from kernelarena.portability.cpp.constants import Constants
from kernelarena.portability.cpp.preprocessor import Region
from kernelarena.portability.cpp.tree import declared_name, text, walk
from kernelarena.portability.source import Source, Span
from kernelarena.spec import Platform

_LANGUAGE = Language(tree_sitter_cuda.language())
_HEAD = b"auto _="
"""What makes the body of a macro parse as an expression; no longer than ``#define X``, in whose place it stands."""


@dataclass(frozen=True)
class Call:
    """A call of a function by its name.

    Attributes
    ----------
    node
        The whole of it.
    name
        The function's name, without namespaces and template arguments.
    full
        With the namespaces that are written before it.
    arguments
        In order, without comments.
    """

    node: Node
    name: str
    full: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Function:
    """A function that the file defines."""

    node: Node
    name: str
    words: frozenset[str]
    """What is written before its body: qualifiers, types and names."""

    @property
    def is_kernel(self) -> bool:
        """Whether the host launches it."""
        return "__global__" in self.words

    @property
    def on_device(self) -> bool:
        """Whether it runs on the device."""
        return self.is_kernel or "__device__" in self.words


class CppUnit:
    """A parsed file.

    Parameters
    ----------
    source
        The file.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._parser = Parser(_LANGUAGE)
        self._trees: list[Tree] = []  # which their nodes need
        self._nodes: dict[str, list[Node]] = defaultdict(list)
        self._parents: dict[int, Node] = {}
        self._around: dict[int, Node] = {}
        """The function definition that each node stands in."""
        self._rows: dict[int, int] = {}
        self._macro_bodies: dict[int, Node] = {}
        self._seen: dict[tuple[Region, str, bool], bool] = {}
        self.root = self._parse(source.text.encode("utf-8", "replace"), 0)
        hidden = {
            row
            for node in self.nodes("comment", "raw_string_literal")
            for row in range(node.start_point.row + 1, node.end_point.row + 1)
        }
        self._regions = preprocessor.regions(source.lines, hidden)
        for definition in self.nodes("preproc_def", "preproc_function_def"):
            self._parse_body(definition)

    def _parse(self, data: bytes, row: int) -> Node:
        """Parse a text that begins in a row, and note of each node what it stands in."""
        tree = self._parser.parse(data)
        self._trees.append(tree)
        waiting: list[tuple[Node, Node | None]] = [(tree.root_node, None)]
        while waiting:
            node, function = waiting.pop()
            self._nodes[node.type].append(node)
            if function is not None:
                self._around[node.id] = function
            if node.type == "function_definition":
                function = node
            if row:
                self._rows[node.id] = row
            for child in reversed(node.children):
                self._parents[child.id] = node
                waiting.append((child, function))
        return tree.root_node

    def _parse_body(self, definition: Node) -> None:
        body = definition.child_by_field_name("value")
        if body is None:
            return
        row, column = body.start_point.row, body.start_point.column
        if column < len(_HEAD):  # after a continued line, which then has room
            row, before = row - 1, _HEAD + b"\n" + b" " * column
        else:
            before = b" " * (column - len(_HEAD)) + _HEAD
        root = self._parse(before + (body.text or b"") + b";", row)
        value = next((node for node in walk(root) if node.type == "init_declarator"), None)
        expression = value.child_by_field_name("value") if value is not None else None
        if expression is not None:
            self._macro_bodies[definition.id] = expression

    def nodes(self, *types: str) -> list[Node]:
        """Return the nodes of some types, in the order of the file for each type; bodies of macros come last."""
        return [node for kind in types for node in self._nodes.get(kind, ())]

    def macro_body(self, definition: Node) -> Node | None:
        """Return what a ``#define`` without parameters stands for, where that is an expression."""
        return self._macro_bodies.get(definition.id)

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Yield what ``node`` stands in, the nearest first."""
        parent = self._parents.get(node.id)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent.id)

    def span(self, node: Node) -> Span:
        """Return where ``node`` stands."""
        first = self._rows.get(node.id, 0)
        start, end = node.start_point, node.end_point
        return Span(
            start.row + first + 1,
            self._column(start.row + first, start.column),
            end.row + first + 1,
            self._column(end.row + first, end.column),
        )

    def _column(self, row: int, column: int) -> int:
        line = self.source.lines[row] if row < len(self.source.lines) else ""
        return len(line.encode("utf-8", "replace")[:column].decode("utf-8", "ignore")) + 1

    def is_live(self, node: Node, platform: Platform) -> bool:
        """Return whether a compiler for ``platform`` may make something of ``node``.

        Of a function for the device alone only the pass for the device does.
        """
        region = self._regions[node.start_point.row + self._rows.get(node.id, 0)]
        if region is None:
            return True
        function = self.function_of(node)
        on_device = function is not None and function.on_device and "__host__" not in function.words
        key = region, platform.id, on_device
        if key not in self._seen:
            self._seen[key] = preprocessor.may_see(region, platform, on_device=on_device)
        return self._seen[key]

    def is_conditional(self, node: Node) -> bool:
        """Return whether ``node`` stands between ``#if`` and ``#endif``, whatever the condition."""
        return self._regions[node.start_point.row + self._rows.get(node.id, 0)] is not None

    @cached_property
    def broken(self) -> tuple[int, str] | None:
        """Where and how the file is no C++, so that code may have been swallowed; None if nothing shows that."""
        return brackets.unmatched(self.source.text, self._regions) if self.root.has_error else None

    @cached_property
    def constants(self) -> Constants:
        """What its names stand for."""
        return Constants(self)

    @cached_property
    def calls(self) -> list[Call]:
        """Every call of a function by name, also inside macros."""
        return list(filter(None, map(_call, self.nodes("call_expression"))))

    @cached_property
    def functions(self) -> list[Function]:
        """Every function that the file defines."""
        return list(filter(None, map(_function, self.nodes("function_definition"))))

    def variables(self, types: frozenset[str]) -> frozenset[str]:
        """Return the names of the variables and parameters that are declared to be of some types."""
        declared = [
            declarator
            for node in self.nodes("declaration", "parameter_declaration")
            if text(node.child_by_field_name("type")).rpartition("::")[2] in types
            for declarator in node.children_by_field_name("declarator")
        ]
        return frozenset(filter(None, map(declared_name, declared)))

    @cached_property
    def defined_names(self) -> frozenset[str]:
        """Names of the functions and function-like macros that the file defines."""
        macros = [
            text(name) for node in self.nodes("preproc_function_def") if (name := node.child_by_field_name("name"))
        ]
        return frozenset([*(function.name for function in self.functions), *macros])

    def function_of(self, node: Node) -> Function | None:
        """Return the function in whose body ``node`` stands."""
        around = self._around.get(node.id)
        return self._function_nodes.get(around.id) if around is not None else None

    @cached_property
    def _function_nodes(self) -> dict[int, Function]:
        return {function.node.id: function for function in self.functions}

    def callers(self, function: Function) -> list[Function]:
        """Return the functions of this file that call ``function``, directly or by others, and itself first."""
        found = {function.node.id: function}
        waiting = [function]
        while waiting:
            name = waiting.pop().name
            for caller in self._callers_by_name.get(name, ()):
                if caller.node.id not in found:
                    found[caller.node.id] = caller
                    waiting.append(caller)
        return list(found.values())

    @cached_property
    def _callers_by_name(self) -> dict[str, list[Function]]:
        callers: dict[str, list[Function]] = defaultdict(list)
        for call in self.calls:
            caller = self.function_of(call.node)
            if caller is not None:
                callers[call.name].append(caller)
        return callers


def _call(node: Node) -> Call | None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or function.type == "field_expression":
        return None
    full = _without_templates(function)
    given = tuple(child for child in arguments.named_children if child.type != "comment")
    return Call(node, full.rpartition("::")[2], full, given)


def _without_templates(function: Node) -> str:
    if function.type in ("template_function", "template_method"):
        return _without_templates(function.child_by_field_name("name") or function.children[0])
    if function.type == "qualified_identifier":
        scope, name = function.child_by_field_name("scope"), function.child_by_field_name("name")
        return f"{text(scope)}::{_without_templates(name)}" if name is not None else text(scope)
    return text(function)


def _function(node: Node) -> Function | None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator") or next(
            (child for child in declarator.named_children if child.type == "function_declarator"), None
        )
    if declarator is None:
        return None
    body = node.child_by_field_name("body")
    head = text(node)[: (body.start_byte - node.start_byte) if body is not None else None]
    words = frozenset(head.replace("(", " ").split())
    name = text(declarator.child_by_field_name("declarator")).rpartition("::")[2]
    return Function(node, name, words)
