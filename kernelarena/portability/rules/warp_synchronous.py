"""``warp-synchronous``: lanes that read what others wrote, and trust that they run in lock-step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.lanes import LOCK_STEP, WIDTHS
from kernelarena.platforms.dialects.where import KNOWN
from kernelarena.portability.cpp.exchanges import Unordered, lanes_of, qualifiers, takes, unordered
from kernelarena.portability.cpp.lanes import HABIT, is_of_thread
from kernelarena.portability.cpp.tree import mentions, text
from kernelarena.portability.cpp.unit import CppUnit, Function
from kernelarena.portability.finding import Severity
from kernelarena.portability.rule import Fault, Rule
from kernelarena.spec import Platform

_INSTEAD = (
    "shuffles within the warp, or __syncthreads() between the steps, where all threads of the block come by; "
    "volatile orders nothing between lanes"
)


class WarpSynchronous(Rule):
    """Steps of a reduction through shared memory follow each other without a barrier.

    With ``volatile`` it holds where the lanes of a warp run in lock-step and the warp is wide enough. Without, the
    compiler may keep elements in registers, whatever the chip.
    """

    id = "warp-synchronous"
    summary = "Steps through shared memory without a barrier, by lanes that need not run in lock-step."
    severity = Severity.WARNING

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at the first such pair of steps on each array of every function."""
        for function in unit.functions:
            told: set[str] = set()
            for pair in unordered(unit, function):
                array = pair.second.array
                declared = qualifiers(unit, function, array) if array not in told else None
                if declared is None or not declared & {"volatile", "__shared__"}:
                    continue
                volatile = "volatile" in declared
                breaks = [each for each in platforms if _breaks(unit, function, pair, each, volatile=volatile)]
                if breaks:
                    told.add(array)
                    ids = tuple(each.id for each in breaks)
                    yield Fault(unit.span(pair.second.node), ids, _said(unit, pair, volatile=volatile), _INSTEAD)


def _breaks(unit: CppUnit, function: Function, pair: Unordered, platform: Platform, *, volatile: bool) -> bool:
    if platform.backend not in KNOWN or platform.limits is None:
        return False
    if not all(unit.is_live(step.node, platform) for step in (pair.first, pair.second)):
        return False
    index = pair.second.index
    if not (is_of_thread(unit, index, platform) or (volatile and takes(function, text(index)))):
        return False
    lanes = lanes_of(unit, function, pair.second.node, platform)
    if not _reaches_back(unit, pair, platform, lanes or HABIT):
        return False
    wide = lanes is not None and lanes > platform.limits.warp_size
    return wide or not volatile or platform.backend not in LOCK_STEP


def _reaches_back(unit: CppUnit, pair: Unordered, platform: Platform, lanes: int) -> bool:
    """Return whether the second step reads an element that one of so many lanes has written in the first."""
    if pair.first is pair.second and mentions(pair.offset, WIDTHS):
        return True
    offset = unit.constants.fold(pair.offset, platform)
    if offset is None:
        return False
    most = lanes if pair.first is pair.second else lanes - 1  # a loop's next offset is another
    return 0 < abs(offset.value) <= most


def _said(unit: CppUnit, pair: Unordered, *, volatile: bool) -> str:
    before = "in the round before" if pair.first is pair.second else f"in line {unit.span(pair.first.node).line}"
    why = (
        "lanes need not run in lock-step, nor be of one warp"
        if volatile
        else "the compiler may keep that in a register, and lanes need not run in lock-step"
    )
    return f"this reads what other lanes wrote {before}, with no barrier between: {why}"
