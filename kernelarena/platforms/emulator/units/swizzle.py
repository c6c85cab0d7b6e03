"""``ds_swizzle_b32``: which lane each lane takes from, by the offset field.

From the ISA guides: bit 15 set means a permutation within groups of four; otherwise within 32 lanes,
``((lane & and) | or) ^ xor``. The text may have either the number or its name.
"""

from __future__ import annotations

import re

import numpy as np

from kernelarena.platforms.emulator.assembly import Statement
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.lanes import LANES, Array

_lane = np.arange(LANES)


def swizzled_lanes(statement: Statement) -> Array:
    """Return ``int64[64]``: the lane that each lane reads.

    Raises
    ------
    Unsupported
        For a pattern that is not modelled.
    """
    offset = statement.modifiers.get("offset", 0)
    if isinstance(offset, str):
        return _by_name(offset, statement)
    if not isinstance(offset, int):
        raise Unsupported(statement.text)
    if offset & 0x8000:
        if offset & 0x4000:
            raise Unsupported(statement.text)
        return _quads(np.array([offset >> 2 * place & 3 for place in range(4)]))
    return _masked(offset & 31, offset >> 5 & 31, offset >> 10 & 31)


def _by_name(text: str, statement: Statement) -> Array:
    found = re.match(r"swizzle\((\w+),\s*(.*)\)$", text)
    if found is None:
        raise Unsupported(statement.text)
    name, rest = found[1], [part.strip() for part in found[2].split(",")]
    if name == "QUAD_PERM":
        return _quads(np.array([int(part) for part in rest]))
    if name == "BITMASK_PERM":
        return _bits(rest[0].strip("\"'"))
    if name == "BROADCAST":
        size, lane = int(rest[0]), int(rest[1])
        return _masked(31 & ~(size - 1), lane, 0)
    if name == "SWAP":
        return _masked(31, 0, int(rest[0]))
    if name == "REVERSE":
        return _masked(31, 0, int(rest[0]) - 1)
    raise Unsupported(statement.text)


def _quads(order: Array) -> Array:
    return _lane // 4 * 4 + order[_lane % 4]


def _masked(keep: int, put: int, flip: int) -> Array:
    return (_lane & 32) | ((((_lane & 31) & keep) | put) ^ flip)


def _bits(pattern: str) -> Array:
    """Read five characters, highest bit first: 0, 1, p(reserve), i(nvert)."""
    keep = put = flip = 0
    for character in pattern:
        keep, put, flip = keep << 1, put << 1, flip << 1
        keep |= character in "pi"
        put |= character == "1"
        flip |= character == "i"
    return _masked(keep, put, flip)
