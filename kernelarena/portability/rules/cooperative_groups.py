"""``cooperative-groups``: groups of threads that only some vendors' header has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.cpp import GROUPS, GROUPS_NAMESPACE, TILES, takes_tile
from kernelarena.platforms.dialects.where import Construct, find
from kernelarena.portability.cpp.tree import text
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform


class CooperativeGroups(Rule):
    """A name of the groups' namespace is not in every vendor's header, or a tile is larger than a warp there."""

    id = "cooperative-groups"
    summary = "A group of threads, or something done by one, that another vendor's header does not have."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every name that is qualified by the namespace or an alias, or meant by a using-directive.

        A type and what makes an object of it stand in one line as a rule; that is told once.
        """
        told: set[tuple[int, Construct]] = set()
        for node in _named(unit):
            name = _plain(node)
            live = [each for each in platforms if unit.is_live(node, each)]
            construct = find(name, GROUPS)
            if construct is not None and (unit.span(node).line, construct) not in told:
                told.add((unit.span(node).line, construct))
                lacking = where(live, construct.lacking)
                yield Fault(unit.span(node), lacking, f"{name} is {construct.what}", construct.instead)
            elif name in TILES:
                yield from _tile(unit, node, live)


def _tile(unit: CppUnit, node: Node, platforms: Sequence[Platform]) -> Iterator[Fault]:
    size = _first_argument(node)
    too_large: dict[int, list[str]] = {}
    for platform in platforms:
        known = unit.constants.fold(size, platform)
        if known is not None and not takes_tile(platform, known.value):
            too_large.setdefault(known.value, []).append(platform.id)
    for threads, ids in too_large.items():
        said = f"a tile of {threads} threads is larger than a warp, and is refused by a static assertion"
        yield Fault(unit.span(node), tuple(ids), said, "tiles of 32 threads or fewer, and shared memory between them")


def _named(unit: CppUnit) -> Iterator[Node]:
    """Yield every use of a name in the namespace."""
    scopes = {GROUPS_NAMESPACE, *_aliases(unit)}
    for node in unit.nodes("qualified_identifier"):
        if text(node.child_by_field_name("scope")).strip(":") in scopes:
            yield node
    if any(text(node).split()[1:] == ["namespace", f"{GROUPS_NAMESPACE};"] for node in unit.nodes("using_declaration")):
        for call in unit.calls:
            if call.full == call.name and call.name not in unit.defined_names:
                function = call.node.child_by_field_name("function")
                assert function is not None
                yield function


def _aliases(unit: CppUnit) -> Iterator[str]:
    for node in unit.nodes("namespace_alias_definition"):
        alias, meant = node.named_children[0], node.named_children[-1]
        if text(meant).strip(":") == GROUPS_NAMESPACE:
            yield text(alias)


def _plain(node: Node) -> str:
    """Return the last name of a qualified one, without template arguments."""
    inner = node
    while (name := inner.child_by_field_name("name")) is not None:
        inner = name
    return text(inner)


def _first_argument(node: Node) -> Node | None:
    inner: Node | None = node
    while inner is not None and inner.type not in ("template_function", "template_type"):
        inner = inner.child_by_field_name("name")
    given = inner.child_by_field_name("arguments") if inner is not None else None
    first = given.named_children[0] if given is not None and given.named_children else None
    return first.child_by_field_name("type") if first is not None and first.type == "type_descriptor" else first
