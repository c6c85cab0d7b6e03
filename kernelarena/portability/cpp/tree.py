"""Small things to do with the nodes of a tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tree_sitter import Node


def walk(node: Node) -> Iterator[Node]:
    """Yield ``node`` and all below it, in the order of the file."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(each.children))


def text(node: Node | None) -> str:
    """Return the source of ``node``; empty for none."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def declared_name(declarator: Node | None) -> str:
    """Return the name that a declarator declares, behind pointers, arrays and initialisers; empty if there is none."""
    while declarator is not None and declarator.type not in ("identifier", "field_identifier"):
        declarator = declarator.child_by_field_name("declarator") or next(
            (child for child in declarator.named_children if child.type.endswith(("declarator", "identifier"))), None
        )
    return text(declarator)


def is_field(node: Node, fields: Collection[str], variables: Collection[str]) -> bool:
    """Return whether ``node`` is one of some fields of one of some variables."""
    if node.type != "field_expression":
        return False
    return text(node.child_by_field_name("argument")) in variables and text(node.child_by_field_name("field")) in fields


def mentions(node: Node, names: frozenset[str]) -> bool:
    """Return whether any of ``names`` stands in ``node``."""
    return any(each.type in ("identifier", "field_identifier") and text(each) in names for each in walk(node))
