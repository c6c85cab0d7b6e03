"""Which parts of a C++ file a compiler for one chip sees: conditions, decided as far as they can be."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from kernelarena.platforms.dialects import macros
from kernelarena.portability.cpp.tree import text
from kernelarena.spec import Platform

_DIRECTIVE = re.compile(r"\s*#\s*(?P<word>ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b")
_COMMENT = re.compile(r"//|/\*")
_DEEP = 60
"""Operators within operators, at most."""
Defined = Mapping[str, "int | None"]
_ARITHMETIC: dict[str, Callable[[int, int], int | None]] = {
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else None,
    "%": lambda a, b: a % b if b else None,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
}


@dataclass(frozen=True, eq=False)
class Region:
    """A stretch of lines that is compiled under conditions.

    Attributes
    ----------
    conditions
        Conditions, and whether each has to hold or has to fail.
    outer
        What the stretch itself stands in.
    """

    conditions: tuple[tuple[Node | None, bool], ...]
    outer: Region | None


def regions(lines: Sequence[str], hidden: Collection[int]) -> list[Region | None]:
    """Return for every line what it stands in.

    Directives are read line by line, as a preprocessor does, and not from the tree of the file: branches need not hold
    whole statements, and then the tree has lost its way.

    Parameters
    ----------
    lines
        The file.
    hidden
        Lines, from 0, that begin inside a comment or a string.
    """
    found: list[Region | None] = []
    stack: list[Region] = []
    row = 0
    while row < len(lines):
        first = row
        while lines[row].rstrip().endswith("\\") and row + 1 < len(lines):
            row += 1
        row += 1
        found += [stack[-1] if stack else None] * (row - first)
        if first in hidden or not lines[first].lstrip().startswith("#"):
            continue
        directive = " ".join(line.rstrip().removesuffix("\\") for line in lines[first:row])
        match = _DIRECTIVE.match(directive)
        if match is not None:
            _follow(match["word"], _COMMENT.split(directive[match.end() :], maxsplit=1)[0].strip(), stack)
    return found


def _follow(word: str, rest: str, stack: list[Region]) -> None:
    """Open a region, go on to its next branch, or close it."""
    if word.startswith("if"):
        stack.append(Region(((_condition(word, rest), True),), stack[-1] if stack else None))
    elif stack:
        closed = stack.pop()
        if word == "endif":
            return
        failed = tuple((condition, False) for condition, _ in closed.conditions)
        branch = () if word == "else" else ((_condition(word[2:], rest), True),)
        stack.append(Region(failed + branch, closed.outer))


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def _condition(word: str, rest: str) -> Node | None:
    """Parse what stands after ``#if``, ``#ifdef`` or ``#ifndef``; None where it is no expression."""
    name = (rest.split() or [""])[0]
    written = {"ifdef": f"defined({name})", "ifndef": f"!defined({name})"}.get(word, rest)
    tree = _parser().parse(f"#if {written}\n#endif\n".encode("utf-8", "replace"))
    directive = tree.root_node.named_children[0] if tree.root_node.named_children else None
    return directive.child_by_field_name("condition") if directive is not None else None


def may_see(region: Region, platform: Platform, *, on_device: bool = False) -> bool:
    """Return whether a compiler for ``platform`` may see a stretch, in the pass for the device or that for the host.

    What depends on a macro that nothing is known of may be seen.

    Parameters
    ----------
    region
        The stretch.
    platform
        The chip that is compiled for.
    on_device
        Whether to leave the host's pass aside, since it makes nothing of the stretch.
    """
    passes = macros.passes(platform)
    return not passes or any(_seen(region, defined) for defined in passes[: 1 if on_device else None])


def _seen(region: Region | None, defined: Defined) -> bool:
    while region is not None:
        for condition, has_to_hold in region.conditions:
            value = _value(condition, defined, _DEEP) if condition is not None else None
            if value is not None and (value != 0) != has_to_hold:
                return False
        region = region.outer
    return True


def is_first(region: Region | None) -> bool:
    """Return whether a stretch is the first branch, wherever it is one of several, that may be compiled at all."""
    while region is not None:
        for condition, has_to_hold in region.conditions:
            value = _value(condition, {}, _DEEP) if condition is not None else None
            if (value != 0) != has_to_hold:  # what is not known is taken to hold
                return False
        region = region.outer
    return True


def _is_defined(name: str, defined: Defined) -> bool | None:
    if name in defined:
        return defined[name] is not None
    return False if macros.is_architecture(name) else None


def _value(node: Node, defined: Defined, depth: int) -> int | None:
    """Evaluate a condition as the preprocessor does; None where it cannot be known."""
    kind = node.type
    if depth == 0:
        return None
    if kind == "number_literal":
        digits = re.fullmatch(r"(0[xX][0-9a-fA-F']+|[0-9']+)[uUlL]*", text(node))
        return int(digits[1].replace("'", ""), 0 if digits[1][:2] in ("0x", "0X") else 10) if digits else None
    if kind == "identifier":
        known = _is_defined(text(node), defined)
        return (defined.get(text(node)) if known else 0) if known is not None else None
    if kind == "preproc_defined":
        known = _is_defined(text(node.named_children[0]), defined) if node.named_children else None
        return None if known is None else int(known)
    if kind == "parenthesized_expression":
        return _value(node.named_children[0], defined, depth - 1) if node.named_children else None
    if kind == "unary_expression" and node.children[0].type == "!":
        value = _value(node.children[-1], defined, depth - 1)
        return None if value is None else int(not value)
    if kind == "binary_expression":
        left, right = _value(node.children[0], defined, depth - 1), _value(node.children[-1], defined, depth - 1)
        return _combine(node.children[1].type, left, right)
    return None


def _combine(operator: str, left: int | None, right: int | None) -> int | None:
    if operator in ("&&", "||"):
        decisive = int(operator == "||")
        known = [int(bool(value)) for value in (left, right) if value is not None]
        if decisive in known:
            return decisive
        return 1 - decisive if len(known) == 2 else None
    if left is None or right is None or operator not in _ARITHMETIC:
        return None
    return _ARITHMETIC[operator](left, right)
