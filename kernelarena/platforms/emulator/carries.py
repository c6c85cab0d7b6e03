"""How undefined bits of sources become undefined bits of results.

Compilers copy, select and combine what nothing has written, and never look at it; so reading such a register is no
fault by itself. What follows from it is undefined as well, and acting on that is the fault. Each function here takes
the undefined bits of the sources (None for none at all) and returns those of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.state import Group

Undefined = Array | None
Carry = Callable[[Group, Sequence[Undefined]], Undefined]
_ALL = np.uint32(0xFFFF_FFFF)


def wholly(group: Group, sources: Sequence[Undefined]) -> Undefined:
    """Any undefined bit of a lane's sources leaves the lane's result undefined: arithmetic."""
    found: Undefined = None
    for source in sources:
        if source is not None:
            found = source != 0 if found is None else found | (source != 0)
    return None if found is None else np.where(found, _ALL, np.uint32(0))


def bitwise(group: Group, sources: Sequence[Undefined]) -> Undefined:
    """Bits stay in their places: moves, logic, choices."""
    found: Undefined = None
    for source in sources:
        if source is not None:
            found = source if found is None else found | source
    return found


def nothing(group: Group, sources: Sequence[Undefined]) -> Undefined:
    """The result is defined, whatever the sources are."""
    return None
