"""What becomes of undefined bits in the vector unit.

Compilers copy, select and combine what nothing has written, and never look at it; so reading such a register is no
fault by itself. What follows from it is undefined as well, and acting on that is the fault. The undefined bits of
registers are read and written by the very functions that read and write the registers, so that lanes that move, halves
that are selected and parts that are kept need no second description. How they go through the function in between is
in ``rules``; by default anything undefined in a lane leaves the lane's result undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.instructions.kinds import Signature
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.shadow import ShadowView
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.dpp import LaneMove
from kernelarena.platforms.emulator.units.reading import Reading
from kernelarena.platforms.emulator.units.rules import followed
from kernelarena.platforms.emulator.units.writing import Writing, write_mask


class Shading:
    """The undefined bits of one instruction's results.

    Parameters
    ----------
    mnemonic, function, signature
        Of the instruction.
    readings, writings
        Its sources and results.
    move
        Its moved source, if it has one.
    """

    def __init__(
        self, mnemonic: str, function: Callable[..., Any], signature: Signature, readings: Sequence[Reading],
        writings: Sequence[Writing], move: LaneMove | None,
    ) -> None:  # fmt: skip
        self._name = mnemonic[2:]
        self._function = function
        self._signature = signature
        self._readings = readings
        self._writings = writings
        self._move = move

    def __call__(self, view: ShadowView, group: Group) -> None:
        """Note what the instruction leaves undefined.

        Parameters
        ----------
        view
            The undefined bits, read and written as registers are.
        group
            The registers themselves.
        """
        shadows = [reading.bits(view) for reading in self._readings]
        mask = write_mask(self._move, group)
        first = self._rule(shadows, group) if any(one.any() for one in shadows) else None
        for place, writing in enumerate(self._writings):
            kind = writing.kind
            shape = (1, 1, kind.parts) if kind.parts else (1, 1)
            nothing = np.zeros(shape, np.bool_ if kind.name == "mask" else f"u{kind.dtype.itemsize}")
            if first is None:
                writing.bits(view, nothing, mask)
            elif place == 0 and kind.name != "mask":
                writing.bits(view, first, mask)
            else:
                lanes = lanes_of(shadows, None)
                writing.bits(view, lanes if kind.name == "mask" else filled(lanes, writing), mask)

    def _rule(self, shadows: Sequence[Array], group: Group) -> Array:
        writing = self._writings[0]
        if writing.kind.name != "mask":
            word = np.dtype(f"u{writing.kind.dtype.itemsize}")
            values = [partial(reading.value, group) for reading in self._readings]
            found = followed(self._name, self._signature, self._function, shadows, values, word)
            if found is not None:
                return found
        return filled(lanes_of(shadows, writing.kind.parts or None), writing)


def lanes_of(shadows: Sequence[Array], parts: int | None) -> Array:
    """Return which lanes (or which of their parts, where the result has as many) have anything undefined."""
    found: Array = np.zeros((1, 1, 1) if parts else (1, 1), np.bool_)
    for shadow in shadows:
        some = shadow != 0
        if parts is None:
            some = some.any(axis=-1) if some.ndim == 3 else some
        elif some.ndim == 2:
            some = some[..., None]
        elif some.shape[-1] != parts:
            some = some.any(axis=-1, keepdims=True)
        found = found | some
    return found


def filled(lanes: Array, writing: Writing) -> Array:
    """Return undefined lanes as undefined bits of a result."""
    kind = writing.kind
    word = np.dtype(f"u{kind.dtype.itemsize}")
    if kind.parts and lanes.ndim == 2:
        lanes = lanes[..., None]
    if kind.parts:
        lanes = np.broadcast_to(lanes, (*lanes.shape[:-1], kind.parts))
    return np.where(lanes, word.type(np.iinfo(word).max), word.type(0))
