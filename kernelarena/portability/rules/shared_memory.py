"""``shared-memory``: more shared memory than a chip gives a block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.cpp import DYNAMIC_SHARED_MEMORY, static_shared_memory
from kernelarena.portability.cpp.tree import text, walk
from kernelarena.portability.cpp.types import SIZES, plain
from kernelarena.portability.cpp.unit import CppUnit, Function
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform

_INSTEAD = "a tile that fits the smallest target, or a size that follows from what the device says it has"


class SharedMemory(Rule):
    """Arrays of known size, or what a launch asks for, exceed the limit of a platform.

    What is not known counts as nothing, so that what is found is certain.
    """

    id = "shared-memory"
    summary = "More shared memory (LDS) than a block may have on some chip."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Add up the arrays of every kernel, and look at launches and at what kernels opt in to."""
        sizes: dict[int, tuple[Node, list[tuple[Platform, int, int]]]] = {}
        for platform in platforms:
            if platform.limits is None:
                continue
            per_block = platform.limits.shared_memory_per_block
            fixed = static_shared_memory(platform.backend, per_block)
            for node, size, limit in (
                *((*found, fixed) for kernel in unit.functions if (found := _arrays(unit, kernel, platform))),
                *((*found, per_block) for found in _asked(unit, platform)),
            ):
                if size > limit:
                    sizes.setdefault(node.id, (node, []))[1].append((platform, size, limit))
        for node, over in sizes.values():
            _, size, _ = over[0]
            by_limit: dict[int, list[str]] = defaultdict(list)
            for platform, _, limit in over:
                by_limit[limit].append(platform.id)
            limits = "; ".join(f"{limit} on {', '.join(ids)}" for limit, ids in by_limit.items())
            yield Fault(
                unit.span(node),
                tuple(platform.id for platform, _, _ in over),
                f"the block asks for {size} bytes of shared memory; it may have {limits}",
                _INSTEAD,
            )


def _arrays(unit: CppUnit, kernel: Function, platform: Platform) -> tuple[Node, int] | None:
    """Return the largest of a kernel's arrays in shared memory, and what all of known size take together."""
    if not kernel.is_kernel:
        return None
    known = []
    for node in walk(kernel.node):
        if node.type == "declaration" and _is_shared(node) and unit.is_live(node, platform):
            known += [(declarator, _bytes(unit, node, declarator, platform)) for declarator in _declarators(node)]
    if not known:
        return None
    largest, _ = max(known, key=lambda each: each[1])
    return largest, sum(size for _, size in known)


def _is_shared(declaration: Node) -> bool:
    words = {text(child) for child in declaration.children if child.type.endswith(("qualifier", "specifier"))}
    return "__shared__" in words and "extern" not in words


def _declarators(declaration: Node) -> list[Node]:
    return declaration.children_by_field_name("declarator")


def _bytes(unit: CppUnit, declaration: Node, declarator: Node, platform: Platform) -> int:
    size = SIZES.get(plain(text(declaration.child_by_field_name("type"))), 0)
    while declarator.type == "array_declarator":
        count = unit.constants.fold(declarator.child_by_field_name("size"), platform)
        inner = declarator.child_by_field_name("declarator")
        if count is None or inner is None:
            return 0
        size *= max(count.value, 0)
        declarator = inner
    return size


def _asked(unit: CppUnit, platform: Platform) -> Iterator[tuple[Node, int]]:
    """Yield what launches and attributes ask for."""
    asked = [node.named_children[2] for node in unit.nodes("kernel_call_syntax") if len(node.named_children) > 2]
    for call in unit.calls:
        if len(call.arguments) == 3 and text(call.arguments[1]).rpartition("::")[2] in DYNAMIC_SHARED_MEMORY:
            asked.append(call.arguments[2])
    for node in asked:
        size = unit.constants.fold(node, platform)
        if size is not None and unit.is_live(node, platform):
            yield node, size.value
