"""``launch-bounds``: a second launch bound that two toolkits count in different units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.cpp import BOUND_IN_WARPS, is_for_hip
from kernelarena.portability.cpp.tree import text
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.finding import Severity
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform


class LaunchBounds(Rule):
    """``__launch_bounds__(threads, blocks)`` asks for another occupancy where the second counts warps of a unit.

    A file that includes headers of HIP is taken to count as HIP does.
    """

    id = "launch-bounds"
    summary = "A second launch bound in blocks, which HIP takes for warps of each execution unit."
    severity = Severity.WARNING

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every bound of two numbers that are known."""
        if any(is_for_hip(text(node.child_by_field_name("path"))) for node in unit.nodes("preproc_include")):
            return
        for node in unit.nodes("launch_bounds"):
            given = [child for child in node.named_children if child.type != "comment"]
            if len(given) < 2:
                continue
            told: dict[tuple[int, int], list[str]] = {}
            for platform in platforms:
                if (units := _other_units(unit, given, platform)) is not None and unit.is_live(node, platform):
                    told.setdefault(units, []).append(platform.id)
            for (asked, meant), ids in told.items():
                yield Fault(
                    unit.span(node),
                    tuple(ids),
                    f"{asked} is taken for warps of each execution unit, and that many blocks are {meant} of them:"
                    f" the compiler leaves {'too few' if asked > meant else 'more'} registers for a thread",
                    f"{meant} there, chosen by #ifdef, or the first bound alone",
                )


def _other_units(unit: CppUnit, given: list[Node], platform: Platform) -> tuple[int, int] | None:
    """Return the second bound, and what it is in warps of a unit, where a platform counts in those and they differ."""
    units = BOUND_IN_WARPS.get((platform.backend, platform.limits.warp_size)) if platform.limits is not None else None
    threads, blocks = (unit.constants.fold(node, platform) for node in given[:2])
    if units is None or platform.limits is None or threads is None or blocks is None or blocks.value < 2:
        return None
    if unit.is_conditional(given[0]) or unit.is_conditional(blocks.origin):  # who chooses knows what is counted
        return None
    warps = -(-threads.value // platform.limits.warp_size) * blocks.value
    meant = max(1, -(-warps // units))
    return None if meant == blocks.value else (blocks.value, meant)
