"""The entry of a kernel in C++ on a device: built here, called with the addresses of tensors and the current stream.

Executed in a disposable candidate process. Host code and launches are seen by the same observer as those of Triton
kernels.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE, WATCHER
from kernelarena.platforms.toolchains.cpp.entry import source
from kernelarena.platforms.toolchains.cpp.extension import Place
from kernelarena.platforms.toolchains.cpp.finding import find
from kernelarena.platforms.toolchains.cpp.native import Watched
from kernelarena.platforms.watching import Watch
from kernelarena.protocol.compile_cpp import signature_of
from kernelarena.protocol.compile_events import TensorSpec
from kernelarena.protocol.compile_extension import Extensions, Places
from kernelarena.protocol.compile_job import CompileJob
from kernelarena.protocol.compile_unit import BuildFailed, Unit
from kernelarena.protocol.entry import EntryError, EntryFault
from kernelarena.protocol.extension_text import is_extension


def load(job: CompileJob, folder: Path, scratch: Path, watch: Watch, until: ExitStack) -> Callable[..., Any]:
    """Build a kernel for the device and return its entry.

    Parameters
    ----------
    job
        The kernel and the chip; its first call says what the entry takes.
    folder
        Holds the kernel's files.
    scratch
        Where to build.
    watch
        Told of launches.
    until
        Has Python code that builds extensions come here until then.

    Raises
    ------
    EntryError
        If it does not build or has no such entry.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    if is_extension(job.kernel):
        extensions = Extensions(job, folder, _untold, scratch, _Device(watch))
        return until.enter_context(extensions.offered())()
    return PlainEntry(_built(job, folder, scratch, watch), watch)


class PlainEntry:
    """An entry that writes outputs which its caller allocates; it is called as those are that return them.

    Parameters
    ----------
    library
        What it was built into.
    watch
        Told of what launches are handed.

    """

    def __init__(self, library: Watched, watch: Watch) -> None:
        self._library, self._watch = library, watch
        self._outputs: list[TensorSpec] = []

    def expect(self, outputs: Sequence[object]) -> None:
        """Note the form of the next calls' outputs, each as plain data of a ``TensorSpec``."""
        self._outputs = [TensorSpec.model_validate(output) for output in outputs]

    def __call__(self, *arguments: Any) -> Any:
        """Allocate the outputs, call the entry on the current stream, and return them.

        Raises
        ------
        RuntimeError
            If it returns an error.
        """
        made = [torch.empty(output.size, dtype=getattr(torch, output.dtype), device="cuda") for output in self._outputs]
        given = [*arguments, *made]
        status = self._library.call(given, torch.cuda.current_stream().cuda_stream)
        _note(self._library, self._watch, [each for each in given if isinstance(each, torch.Tensor)])
        if status != 0:
            raise RuntimeError(f"the entry returned {status}")
        return made[0] if len(made) == 1 else tuple(made)


class _Device:
    """The device, as extensions are called on it.

    Parameters
    ----------
    watch
        Told of launches.
    """

    link = WATCHER

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def open(self, library: Path, building: Unit, places: Places) -> tuple[ctypes.CDLL, Place]:
        """Load it beside the runtime that the framework uses."""
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


def _built(job: CompileJob, folder: Path, scratch: Path, watch: Watch) -> Watched:
    compiler = find(job.kernel.language, job.platform.arch)
    unit = Unit(job, compiler, job.kernel.files, folder, _untold, scratch, itertools.count())
    try:
        library = unit.build(source(compiler, signature_of(job), job.kernel.file), [INCLUDE], WATCHER)
        return Watched(library, watch.going_to)
    except BuildFailed as failed:
        where = unit.own(failed.error.file), failed.error.line
        raise EntryError(EntryFault.IMPORT, f"it does not compile: {failed.error.message}", *where) from None
    except OSError as error:
        raise EntryError(EntryFault.IMPORT, f"what was built does not load: {error}", job.kernel.file) from None


def _untold(event: dict[str, object]) -> None:
    """Tell nobody: the compile gate has told of the same kernel."""
