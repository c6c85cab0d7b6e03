"""A library that runs on the device of this process: its entry gets the addresses of tensors and the current stream.

It is linked with ``watcher.cpp``, which tells of each launch before it takes place.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from kernelarena.platforms.toolchains.cpp.entry import EXPORTED
from kernelarena.platforms.toolchains.cpp.recorded import number, structure

_RUNTIME = re.compile(r"(/\S*/lib(?:cudart|amdhip64)[^/\s]*\.so[\d.]*)$", re.MULTILINE)
_Told = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)


class Watched:
    """A library whose launches are told of.

    Parameters
    ----------
    library
        Its file.
    going_to
        Called before each launch, with the handle of its stream.

    Raises
    ------
    OSError
        If it does not load, as when the process has no runtime of the vendor's, or one that is too old.
    """

    def __init__(self, library: Path, going_to: Callable[[int], object]) -> None:
        _share_runtime()
        self.library = ctypes.CDLL(str(library))
        self._going_to = going_to
        self._launched: list[str] = []
        self._told = _Told(self._tell)
        self.library.ka_watch(self._told)

    def _tell(self, name: bytes, stream: int | None) -> None:
        self._launched.append(name.decode(errors="replace"))
        self._going_to(stream or 0)

    def launched(self) -> list[str]:
        """Return the names of the kernels that were launched since the last time."""
        names, self._launched = self._launched, []
        return names

    def call(self, arguments: Sequence[torch.Tensor | bool | int | float], stream: int) -> int:
        """Call the entry, and return what it returns: zero, or an error of the runtime's."""
        kept: list[object] = []
        given = [_argument(argument, kept) for argument in arguments]
        return int(self.library[EXPORTED](*given, ctypes.c_void_p(stream)))


def _share_runtime() -> None:
    """Have libraries that are loaded from now on find the runtime that the framework brought along for itself."""
    mapped = Path("/proc/self/maps").read_text()
    for path in sorted(set(_RUNTIME.findall(mapped))):
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)


def _argument(argument: torch.Tensor | bool | int | float, kept: list[object]) -> object:
    if isinstance(argument, torch.Tensor):
        dtype = str(argument.dtype).removeprefix("torch.")
        return structure(argument.data_ptr(), dtype, argument.shape, argument.stride(), kept)
    return number(argument)
