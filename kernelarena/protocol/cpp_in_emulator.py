"""Kernels in C++ in the emulator of a chip that is not there: launches run at once, in this process's memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import torch

from kernelarena.platforms.emulator import load
from kernelarena.platforms.persona.facts import facts
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.toolchains.cpp.compiler import RECORDER
from kernelarena.platforms.toolchains.cpp.emulated import Emulated
from kernelarena.platforms.toolchains.cpp.extension import Place
from kernelarena.protocol.compile_extension import Places
from kernelarena.protocol.compile_unit import Unit
from kernelarena.protocol.cpp_entry import Call
from kernelarena.spec import Platform


class Emulator:
    """The emulator of a chip.

    Parameters
    ----------
    platform
        The chip.
    observer
        Told of what launches do.
    """

    link = RECORDER

    def __init__(self, platform: Platform, observer: Observer) -> None:
        self._chip = facts(platform)
        self._observer = observer

    def plain(self, library: Path, building: Unit) -> Call:
        """Load it, and the text of its device code."""
        return self._loaded(library, building).call

    def open(self, library: Path, building: Unit, places: Places) -> tuple[ctypes.CDLL, Place]:
        """Load it likewise."""
        emulated = self._loaded(library, building)
        return emulated.library, _InEmulator(emulated, self._observer)

    def _loaded(self, library: Path, building: Unit) -> Emulated:
        return Emulated(library, self._chip, load(building.assembly()), self._observer)


class _InEmulator:
    """What an extension is told of tensors that play the device's.

    Parameters
    ----------
    library
        Its library.
    observer
        Its ledger knows which those are.
    """

    def __init__(self, library: Emulated, observer: Observer) -> None:
        self._library, self._observer = library, observer

    def address(self, tensor: torch.Tensor) -> int:
        """Return the address itself, at which launches may touch it from then on."""
        self._library.hand("a tensor", tensor)
        return tensor.data_ptr()

    def on_device(self, tensor: torch.Tensor) -> bool:
        """Ask the ledger."""
        return self._observer.ledger.on_device(tensor)

    def stream(self) -> int:
        """Return the default stream."""
        return 0

    def launched(self, tensors: Sequence[torch.Tensor]) -> None:
        """Raise what a launch since the last time raised."""
        self._library.settle()
