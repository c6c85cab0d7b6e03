"""``lane-mask``: a mask that names 32 lanes where the warp has more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.lanes import MASKED
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform

_LANES = (1 << 32) - 1


class LaneMask(Rule):
    """A mask of all ones in 32 bits is handed to a function that synchronises or exchanges lanes.

    It is reported where the number is written, once, however often it is used.
    """

    id = "lane-mask"
    summary = "A 32-bit mask for all lanes of a warp, which is half of a 64-lane wavefront."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at the first argument of every call of such a function."""
        found: dict[int, tuple[Node, str, list[str]]] = {}
        for platform in platforms:
            if platform.limits is None or platform.limits.warp_size <= 32:
                continue
            for call in unit.calls:
                if call.name not in MASKED or not call.arguments or not unit.is_live(call.node, platform):
                    continue
                mask = unit.constants.fold(call.arguments[0], platform, defaults=True)
                if mask is not None and mask.value % (1 << mask.bits) == _LANES:
                    _, _, ids = found.setdefault(mask.origin.id, (mask.origin, call.name, []))
                    ids.append(platform.id)
        for origin, name, ids in found.values():
            yield Fault(
                unit.span(origin),
                where(platforms, lambda platform, ids=ids: platform.id in ids),  # type: ignore[misc]
                f"{name} is given the lanes 0 to 31, and a warp has 64: a 32-bit mask is refused by the compiler, a"
                " wider one with the same bits leaves half of the lanes out",
                "a mask type of the width of the warp, such as 0xffffffffffffffffull under"
                " #if defined(__HIP_PLATFORM_AMD__), or __activemask() kept in a 64-bit variable",
            )
