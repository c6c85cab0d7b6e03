"""What becomes of undefined bits in the scalar unit; see ``rules``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.instructions.registry import Entry
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.shadow import ShadowView
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.rules import followed


class ScalarShading:
    """The undefined bits of one instruction's results.

    Parameters
    ----------
    entry
        What it computes.
    constants
        Which of its sources are constants.
    readers, writers
        Of its sources and results.
    """

    def __init__(
        self, entry: Entry, constants: Sequence[bool],
        readers: Sequence[Callable[[Registers], Array]], writers: Sequence[Callable[[Registers, Array], None]],
    ) -> None:  # fmt: skip
        assert entry.signature is not None
        self._name = entry.mnemonic[2:]
        self._function = entry.function
        self._signature = entry.signature
        self._constants = constants
        self._readers = readers
        self._writers = writers

    def __call__(self, view: ShadowView, group: Group) -> None:
        """Note what the instruction leaves undefined: the bits by a rule, SCC if anything is."""
        shadows = [
            np.zeros(1, f"u{read(group).dtype.itemsize}") if constant else _unsigned(read(view))
            for constant, read in zip(self._constants, self._readers, strict=True)
        ]
        lost = np.zeros(view.count, np.bool_)
        for shadow in shadows:
            lost = lost | (shadow != 0)
        for name, write in zip(self._signature.results, self._writers, strict=True):
            if name == "scc":
                write(view, lost)
                continue
            dtype = KINDS[name].dtype
            word = np.dtype(f"u{dtype.itemsize}")
            bits = None
            if lost.any():
                values = [partial(read, group) for read in self._readers]
                bits = followed(self._name, self._signature, self._function, shadows, values, word)
            if bits is None:
                bits = np.where(lost, word.type(np.iinfo(word).max), word.type(0))
            write(view, bits.view(dtype))


def _unsigned(bits: Array) -> Array:
    return bits.view(np.uint8 if bits.dtype == np.bool_ else f"u{bits.dtype.itemsize}")
