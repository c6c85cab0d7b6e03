"""The entry of a kernel in C++ where kernels run: built here, and called with the addresses of tensors.

Executed in a disposable candidate process. Host code and launches are seen by the same observer as those of Triton
kernels. Where launches go is a venue's business: to a device (:mod:`kernelarena.protocol.cpp_on_device`), or to the
emulator of one (:mod:`kernelarena.protocol.cpp_in_emulator`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import torch

from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE
from kernelarena.platforms.toolchains.cpp.entry import source
from kernelarena.platforms.toolchains.cpp.extension_text import is_extension
from kernelarena.platforms.toolchains.cpp.finding import find
from kernelarena.platforms.toolchains.cpp.objects import Objects
from kernelarena.protocol import compile_extension
from kernelarena.protocol.compile_cpp import signature_of
from kernelarena.protocol.compile_events import TensorSpec
from kernelarena.protocol.compile_extension import Extensions
from kernelarena.protocol.compile_job import CompileJob
from kernelarena.protocol.compile_unit import BuildFailed, Unit
from kernelarena.protocol.entry import EntryError, EntryFault

Call = Callable[[Sequence[Any]], int]
"""Calls an entry with tensors and numbers; returns zero, or an error of the runtime's."""


class Venue(compile_extension.Venue, Protocol):
    """Where entries are called that write outputs which their caller allocates."""

    def plain(self, library: Path, building: Unit) -> Call:
        """Load a library that was just built, and return what calls its entry.

        Raises
        ------
        OSError
            If it does not load.
        """


def load(
    job: CompileJob, folder: Path, scratch: Path, venue: Venue, until: ExitStack, objects: Objects
) -> Callable[..., Any]:
    """Build a kernel and return its entry.

    Parameters
    ----------
    job
        The kernel and the chip; its first call says what the entry takes.
    folder
        Holds the kernel's files.
    scratch
        Where to build.
    venue
        Where it is called.
    until
        Has Python code that builds extensions come here until then.
    objects
        What the compile gate has compiled of it.

    Raises
    ------
    EntryError
        If it does not build or has no such entry.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    if is_extension(job.kernel):
        extensions = Extensions(job, folder, _untold, scratch, venue, objects)
        return until.enter_context(extensions.offered())()
    return PlainEntry(_built(job, folder, scratch, venue, objects))


class PlainEntry:
    """An entry that writes outputs which its caller allocates; it is called as those are that return them.

    Parameters
    ----------
    call
        Calls it.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._outputs: list[TensorSpec] = []

    def expect(self, outputs: Sequence[object]) -> None:
        """Note the form of the next calls' outputs, each as plain data of a ``TensorSpec``."""
        self._outputs = [TensorSpec.model_validate(output) for output in outputs]

    def __call__(self, *arguments: Any) -> Any:
        """Allocate the outputs, call the entry, and return them.

        Raises
        ------
        RuntimeError
            If it returns an error.
        """
        made = [torch.empty(output.size, dtype=getattr(torch, output.dtype), device="cuda") for output in self._outputs]
        status = self._call([*arguments, *made])
        if status != 0:
            raise RuntimeError(f"the entry returned {status}")
        return made[0] if len(made) == 1 else tuple(made)


def _built(job: CompileJob, folder: Path, scratch: Path, venue: Venue, objects: Objects) -> Call:
    compiler = find(job.kernel.language, job.platform.arch)
    unit = Unit(job, compiler, job.kernel.files, folder, _untold, scratch, itertools.count(), objects)
    try:
        library = unit.build(source(compiler, signature_of(job), job.kernel.file), [INCLUDE], venue.link)
        return venue.plain(library, unit)
    except BuildFailed as failed:
        where = unit.own(failed.error.file), failed.error.line
        raise EntryError(EntryFault.IMPORT, f"it does not compile: {failed.error.message}", *where) from None
    except OSError as error:
        raise EntryError(EntryFault.IMPORT, f"what was built does not load: {error}", job.kernel.file) from None


def _untold(event: dict[str, object]) -> None:
    """Tell nobody: the compile gate has told of the same kernel."""
