"""Kernels in C++ on a device: called with the addresses of tensors and the current stream."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from kernelarena.platforms.toolchains.cpp.compiler import WATCHER
from kernelarena.platforms.toolchains.cpp.extension import Place
from kernelarena.platforms.toolchains.cpp.native import Watched
from kernelarena.platforms.watching import Watch
from kernelarena.protocol.compile_extension import Places
from kernelarena.protocol.compile_unit import Unit
from kernelarena.protocol.cpp_entry import Call


class Device:
    """The device of this process.

    Parameters
    ----------
    watch
        Told of launches.
    """

    link = WATCHER

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def plain(self, library: Path, building: Unit) -> Call:
        """Load it beside the runtime that the framework uses; its entry is called on the current stream."""
        watched = Watched(library, self._watch.going_to)

        def call(arguments: Sequence[Any]) -> int:
            status = watched.call(arguments, torch.cuda.current_stream().cuda_stream)
            tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
            _note(watched, self._watch, tensors)
            return status

        return call

    def open(self, library: Path, building: Unit, places: Places) -> tuple[ctypes.CDLL, Place]:
        """Load it likewise."""
        watched = Watched(library, self._watch.going_to)
        return watched.library, _OnDevice(watched, self._watch)


class _OnDevice:
    """What an extension is told of tensors that lie on the device.

    Parameters
    ----------
    library
        Its library.
    watch
        Told of launches.
    """

    def __init__(self, library: Watched, watch: Watch) -> None:
        self._library, self._watch = library, watch

    def address(self, tensor: torch.Tensor) -> int:
        """Return the address itself."""
        return tensor.data_ptr()

    def on_device(self, tensor: torch.Tensor) -> bool:
        """Ask the framework."""
        return tensor.is_cuda

    def stream(self) -> int:
        """Return the current stream."""
        return int(torch.cuda.current_stream().cuda_stream)

    def launched(self, tensors: Sequence[torch.Tensor]) -> None:
        """Note what was launched since the last time."""
        _note(self._library, self._watch, tensors)


def _note(library: Watched, watch: Watch, tensors: Sequence[torch.Tensor]) -> None:
    for name in library.launched():
        watch.observer.launched(tensors, tuning=False, kernel=name)
