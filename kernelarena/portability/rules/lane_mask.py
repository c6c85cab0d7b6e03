"""``lane-mask``: a mask that is too narrow for the function, or names 32 lanes where the warp has more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from kernelarena.platforms.dialects.lanes import MASK_BITS, MASKED
from kernelarena.portability.cpp.constants import Constant
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform

_LANES = (1 << 32) - 1
_INSTEAD = (
    "a mask type of the width of the warp, such as 0xffffffffffffffffull under #if defined(__HIP_PLATFORM_AMD__), or"
    " __activemask() kept in a 64-bit variable"
)


class LaneMask(Rule):
    """A 32-bit mask, or one of 32 ones, is handed to a function that synchronises or exchanges lanes.

    It is reported where the number is written, once, however often it is used. Functions of the file's own that have
    such a name do with the mask what they like.
    """

    id = "lane-mask"
    summary = "A mask of 32 lanes, which HIP's functions refuse, and which is half of a 64-lane wavefront."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at the first argument of every call of such a function."""
        calls = [call for call in unit.calls if call.name in MASKED - unit.defined_names and call.arguments]
        found: dict[tuple[int, bool], tuple[Node, str, list[str]]] = {}
        for platform in platforms:
            for call in calls:
                mask = unit.constants.fold(call.arguments[0], platform, defaults=True)
                if mask is None or not unit.is_live(call.node, platform):
                    continue
                refused = _is_refused(mask, platform)
                if refused or _is_half(mask, platform):
                    _, _, ids = found.setdefault((mask.origin.id, refused), (mask.origin, call.name, []))
                    if platform.id not in ids:
                        ids.append(platform.id)
        for (_, refused), (origin, name, ids) in found.items():
            breaks = (
                f"{name} takes a mask of 64 bits there, however wide the warp: the compiler refuses one of 32"
                if refused
                else f"{name} is given the lanes 0 to 31, and a warp has 64: half of the lanes are left out"
            )
            yield Fault(unit.span(origin), tuple(ids), breaks, _INSTEAD)


def _is_refused(mask: Constant, platform: Platform) -> bool:
    return mask.certain and platform.limits is not None and mask.bits < MASK_BITS.get(platform.backend, 0)


def _is_half(mask: Constant, platform: Platform) -> bool:
    wide = platform.limits is not None and platform.limits.warp_size > 32
    return wide and mask.value % (1 << mask.bits) == _LANES
