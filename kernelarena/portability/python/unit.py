"""One Python file: its tree, what its names are, what is constant, and what is done on some chips alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

from kernelarena.platforms.dialects.python import ON_DEVICE, asks_for_vendor
from kernelarena.portability.source import Source, Span

_Node = TypeVar("_Node", bound=ast.AST)
_DEEP = 20
"""Names that stand for names, and operators within operators, at most."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_Test = ast.If | ast.IfExp | ast.While


class PythonUnit:
    """A parsed file.

    Parameters
    ----------
    source
        The file.

    Raises
    ------
    SyntaxError, ValueError, RecursionError, MemoryError
        If it does not parse.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = ast.parse(source.text)
        self._nodes = list(ast.walk(self.tree))
        self._parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._imports: dict[str, str] = {}
        for node in self._nodes:
            self._import(node)
        self._values: dict[str, list[ast.expr | None]] = defaultdict(list)
        for node in self._nodes:
            self._bind(node)
        self._asking: dict[ast.AST, bool] = {}

    def nodes(self, kind: type[_Node]) -> Iterator[_Node]:
        """Yield the nodes of a type."""
        return (node for node in self._nodes if isinstance(node, kind))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return what ``node`` stands in."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what ``node`` stands in, the nearest first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Return where ``node`` stands."""
        end_line, end_offset = node.end_lineno or node.lineno, node.end_col_offset
        return Span(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, end_offset if end_offset is not None else node.col_offset),
        )

    def _column(self, line: int, offset: int) -> int:
        content = self.source.lines[line - 1] if line <= len(self.source.lines) else ""
        return len(content.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1

    def dotted(self, node: ast.AST) -> str:
        """Return what an expression is called in full: ``tl.dot`` as ``triton.language.dot``; empty for no name.

        A call is named as what it calls, so that ``get_device_properties(0).name`` has a name.
        """
        parts: list[str] = []
        while True:
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, ast.Name):
                return ".".join([self._imports.get(node.id, node.id), *reversed(parts)])
            else:
                return ""

    def modules(self) -> Iterator[tuple[str, ast.stmt]]:
        """Yield the modules that are imported, and what may be modules, with where."""
        for node in self._nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.name, node) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)

    def value(self, node: ast.expr) -> ast.expr:
        """Return what a name is given, where it is given that alone in the whole file; else ``node`` itself."""
        for _ in range(_DEEP):
            values = self._values.get(node.id, []) if isinstance(node, ast.Name) else []
            if len(values) != 1 or values[0] is None:
                break
            node = values[0]
        return node

    def values(self, name: str, function: ast.AST | None = None) -> list[ast.expr | None]:
        """Return all that a name is given, in a function or in the file; None for what is no plain assignment."""
        given = self._values.get(name, [])
        return [value for value in given if value is None or function is None or function in self.ancestors(value)]

    def integer(self, node: ast.expr | None) -> int | None:
        """Return the integer that an expression is, if it is one whatever happens."""
        found = self._constant(node, _DEEP) if node is not None else None
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def string(self, node: ast.expr | None) -> str | None:
        """Return the string that an expression is, if it is one whatever happens."""
        found = self._constant(node, _DEEP) if node is not None else None
        return found if isinstance(found, str) else None

    def _constant(self, node: ast.expr, depth: int) -> object:
        node = self.value(node)
        if depth == 0:
            return None
        if isinstance(node, ast.Call) and len(node.args) == 1 and self.dotted(node) == "triton.language.constexpr":
            return self._constant(node.args[0], depth - 1)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BinOp):
            left, right = self._constant(node.left, depth - 1), self._constant(node.right, depth - 1)
            if isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add):
                return left + right
            if isinstance(left, int) and isinstance(right, int):
                return _arithmetic(node.op, left, right)
        return None

    def is_guarded(self, node: ast.AST) -> bool:
        """Return whether ``node`` is reached on some chips alone, because something around it asks whose chip it is.

        That is: a branch, a function whose decorator asks or that is used in such places alone, an import that may
        fail, and what comes after a branch that leaves.
        """
        return self._is_guarded(node, 3)

    def _is_guarded(self, node: ast.AST, depth: int) -> bool:
        child = node
        for around in self.ancestors(node):
            if isinstance(around, _Test) and child is not around.test and self._asks(around.test):
                return True
            if isinstance(around, ast.BoolOp) and any(
                self._asks(value) for value in around.values if value is not child
            ):
                return True
            if isinstance(around, ast.Try) and around.handlers and isinstance(node, ast.Import | ast.ImportFrom):
                return True
            if isinstance(child, ast.stmt) and self._follows_a_way_out(around, child):
                return True
            if isinstance(around, (*_FUNCTIONS, ast.ClassDef)) and self._is_for_some(around, depth):
                return True
            child = around
        return False

    def _follows_a_way_out(self, around: ast.AST, child: ast.stmt) -> bool:
        """Return whether a statement comes after one that leaves on some chips."""
        for body in (getattr(around, name, ()) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list) and child in body:
                before = body[: body.index(child)]
                return any(
                    (isinstance(each, ast.If) and isinstance(each.body[-1], _LEAVES) and self._asks(each.test))
                    or (isinstance(each, ast.Assert) and self._asks(each.test))
                    for each in before
                )
        return False

    def _is_for_some(self, definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, depth: int) -> bool:
        if any(map(self._asks, definition.decorator_list)):
            return True
        uses = self._uses.get(definition.name, []) if depth else []
        outside = [use for use in uses if definition not in self.ancestors(use)]
        return bool(outside) and all(self._is_guarded(use, depth - 1) for use in outside)

    @cached_property
    def _uses(self) -> dict[str, list[ast.Name]]:
        uses: dict[str, list[ast.Name]] = defaultdict(list)
        for node in self.nodes(ast.Name):
            if isinstance(node.ctx, ast.Load):
                uses[node.id].append(node)
        return uses

    def _asks(self, test: ast.AST) -> bool:
        """Return whether an expression asks whose chip it is, itself or by what its names stand for."""
        if test not in self._asking:
            self._asking[test] = False  # what stands for itself asks nothing
            self._asking[test] = any(self._is_question(node) for node in ast.walk(test))
        return self._asking[test]

    def _is_question(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and asks_for_vendor(node.value)
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        if isinstance(node, ast.Attribute) and node.attr in ON_DEVICE and not self._is_of_a_module(node):
            return False
        if asks_for_vendor(self.dotted(node)):
            return True
        if not isinstance(node, ast.Name):
            return False
        given = [value for value in self._values.get(node.id, []) if value is not None]
        return any(map(self._asks, given)) or any(map(self._asks, self._bodies.get(node.id, [])))

    def _is_of_a_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._imports

    @cached_property
    def _bodies(self) -> dict[str, list[ast.stmt]]:
        """Functions of a few lines, by name: those that may be questions."""
        return {node.name: node.body for node in self.nodes(ast.FunctionDef) if len(node.body) <= 4}

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._imports[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self._imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def _bind(self, node: ast.AST) -> None:
        """Note what names are given: values where that is plain to see, None where it may be anything."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(target, node.value)
        elif isinstance(node, ast.AnnAssign):
            self._target(node.target, node.value)
        elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension):
            self._target(node.target, None)
        elif isinstance(node, ast.arg):
            self._values[node.arg].append(None)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._target(node.optional_vars, None)
        elif isinstance(node, ast.NamedExpr):
            self._target(node.target, node.value)

    def _target(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._values[target.id].append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._target(each, None)


def _arithmetic(operator: ast.operator, left: int, right: int) -> int | None:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult) and abs(left) < 1 << 64 and abs(right) < 1 << 64:
        return left * right
    if isinstance(operator, ast.FloorDiv) and right:
        return left // right
    if isinstance(operator, ast.Pow) and 0 <= right <= 64 and abs(left) <= 1 << 16:
        return int(left**right)
    if isinstance(operator, ast.LShift) and 0 <= right <= 64 and abs(left) < 1 << 64:
        return left << right
    return None
