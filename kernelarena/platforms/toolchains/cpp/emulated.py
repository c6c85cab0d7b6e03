"""A library linked with the recorder, whose launches run in an emulator of the chip, in this process's memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import torch

from kernelarena.platforms.emulator import Program
from kernelarena.platforms.persona.executor import run
from kernelarena.platforms.persona.facts import PersonaFacts
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.toolchains.cpp.entry import EXPORTED
from kernelarena.platforms.toolchains.cpp.recorded import Recorder, number, structure

_Axes = ctypes.POINTER(ctypes.c_uint32)
_Run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, _Axes, _Axes, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p))
_Reserved = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
_FAILED = 1


class Emulated:
    """A library that believes to run on a chip.

    Parameters
    ----------
    library
        Its file.
    chip
        What it is told of the chip.
    program
        The device's half of it.
    observer
        Told of what launches do.

    Raises
    ------
    OSError
        If it cannot be loaded.
    """

    def __init__(self, library: Path, chip: PersonaFacts, program: Program, observer: Observer) -> None:
        self.library = ctypes.CDLL(str(library))
        self.recorder = Recorder(self.library, chip)
        self._program, self._observer = program, observer
        self._tensors: list[tuple[str, torch.Tensor]] = []
        self._workspaces: list[tuple[int, int]] = []
        self._raised: BaseException | None = None
        self._callbacks = _Run(self._run), _Reserved(self._reserved)
        self.library.ka_run(*self._callbacks)

    def hand(self, name: str, tensor: torch.Tensor) -> None:
        """Let the launches of the next call touch a tensor."""
        self._tensors.append((name, tensor))

    def call(self, arguments: Sequence[torch.Tensor | bool | int | float]) -> int:
        """Call the entry, and return what it returns: zero, or an error of the runtime's.

        Raises
        ------
        kernelarena.platforms.emulator.Fault
            If a launch did what it must not.
        kernelarena.platforms.emulator.fault.Unsupported
            If one holds what the emulator does not know.
        """
        kept: list[object] = []
        given = []
        for position, argument in enumerate(arguments):
            if isinstance(argument, torch.Tensor):
                self.hand(f"argument {position}", argument)
                dtype = str(argument.dtype).removeprefix("torch.")
                given.append(structure(argument.data_ptr(), dtype, argument.shape, argument.stride(), kept))
            else:
                given.append(number(argument))
        status = int(self.library[EXPORTED](*given, ctypes.c_void_p(None)))
        self.settle()
        return status

    def settle(self) -> None:
        """End a call: raise what one of its launches raised, which cannot pass through host code in C++."""
        raised, self._raised = self._raised, None
        self._tensors.clear()
        self.recorder.forget()
        if raised is not None:
            raise raised

    def _run(self, name: bytes, grid: ctypes._Pointer[ctypes.c_uint32], block: ctypes._Pointer[ctypes.c_uint32],
             shared: int, arguments: ctypes._Pointer[ctypes.c_void_p]) -> int:  # fmt: skip
        if self._raised is not None:
            return _FAILED
        kernel = name.decode(errors="replace")
        try:
            values = self._values(kernel, arguments)
            axes, items = (grid[0], grid[1], grid[2]), (block[0], block[1], block[2])
            run(
                self._observer, self._program, kernel, axes, items, values, self._tensors,
                shared=shared, workspaces=self._workspaces,
            )  # fmt: skip
        except BaseException as error:
            self._raised = error
            return _FAILED
        return 0

    def _values(self, kernel: str, arguments: ctypes._Pointer[ctypes.c_void_p]) -> list[bytes]:
        """Return the bytes of each argument, whose addresses the runtime is handed."""
        known = self._program.kernels.get(kernel)
        if known is None:
            return []
        visible = [one for one in known.text.arguments if not one.kind.startswith("hidden_")]
        return [ctypes.string_at(arguments[place] or 0, one.size) for place, one in enumerate(visible)]

    def _reserved(self, address: int, size: int) -> None:
        self._workspaces.append((address, size))
