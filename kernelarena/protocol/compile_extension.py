"""The compile gate for extensions of PyTorch's: a source with a module, or a Python file that builds one.

Executed in a disposable candidate process. Their host code runs as that of Triton kernels does, under the persona of
the chip and before the same observer; only what builds and launches is another.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch.utils import cpp_extension

from kernelarena.errors import nearest
from kernelarena.platforms.persona.patching import Patches
from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE, RECORDER
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic
from kernelarena.platforms.toolchains.cpp.extension import Extension, Place
from kernelarena.platforms.toolchains.cpp.extension_text import NAMES, Part, forward, gives_away, lacking, part, unit
from kernelarena.platforms.toolchains.cpp.finding import find
from kernelarena.platforms.toolchains.cpp.objects import Objects
from kernelarena.platforms.toolchains.cpp.recorded import Launch, Recorder, nowhere
from kernelarena.protocol.compile_job import CompileJob
from kernelarena.protocol.compile_unit import BuildFailed, Emit, Refused, Unit
from kernelarena.protocol.entry import EntryError, EntryFault, load_entry

if TYPE_CHECKING:
    from kernelarena.platforms.persona import Persona

_NUMBERS = 1 << 20
"""Specialisations of ours are numbered from here on, those of Triton from zero."""
_MANY = 50_000
"""Launches after which the recorder begins anew; it holds 65,536."""
_LACKING = (
    "'{}' is not among what the harness has of PyTorch's C++ interface (docs/cpp.md), so nothing can be said of the "
    "kernel; call what is there"
)


Places = Callable[[str, int], tuple[str, int]]
"""Turns a file and a line of an extension's sources into those of the kernel."""


class Venue(Protocol):
    """Where extensions are called: in a process that plays the chip's host, or on the chip."""

    link: Path
    """What they are linked with."""

    def open(self, library: Path, building: Unit, places: Places) -> tuple[ctypes.CDLL, Place]:
        """Load a library that was just built.

        Raises
        ------
        OSError
            If it does not load.
        """


class Extensions:
    """Builds the extensions of one kernel.

    Parameters
    ----------
    job, folder, emit, scratch
        As of :func:`kernelarena.protocol.compile_run.run`.
    venue
        Where they are called.
    objects
        What has been compiled already, and where to keep what is.
    """

    def __init__(
        self, job: CompileJob, folder: Path, emit: Emit, scratch: Path, venue: Venue, objects: Objects
    ) -> None:
        self._job, self._folder, self._emit, self._scratch, self._venue = job, folder, emit, scratch, venue
        self._objects = objects
        self._compiler = find(job.kernel.language, job.platform.arch)
        self._numbers = itertools.count(_NUMBERS)
        self._built = itertools.count()

    @contextlib.contextmanager
    def offered(self) -> Iterator[Callable[[], Callable[..., Any]]]:
        """Have Python code that builds an extension come here; what returns the entry is given."""
        with Patches() as patches:
            patches.set(cpp_extension, load_inline=self.load_inline, load=self.load)
            yield self.entry

    def entry(self) -> Callable[..., Any]:
        """Return the kernel's entry: a function of the extension that its file is, or one of the Python file.

        Raises
        ------
        EntryError
            If there is none.
        """
        kernel = self._job.kernel
        if kernel.file.endswith(".py"):
            return load_entry(self._folder, kernel.file, kernel.function)
        main = Part(kernel.file, kernel.files[kernel.file], (kernel.file, 0))
        given = [] if gives_away([main], kernel.function) else [kernel.function]
        made = self._build([main], given, kernel.files, self._folder)
        if kernel.function not in made.functions:
            message = f"{kernel.file} gives no '{kernel.function}' away; {nearest(kernel.function, made.functions)}"
            raise EntryError(EntryFault.MISSING, message, kernel.file)
        return made.functions[kernel.function]

    def load_inline(
        self,
        name: str,
        cpp_sources: str | Sequence[str],
        cuda_sources: str | Sequence[str] | None = None,
        sycl_sources: object = None,
        functions: str | Sequence[str] | dict[str, str] | None = None,
        **_: object,
    ) -> Any:
        """Stand in for ``torch.utils.cpp_extension.load_inline``.

        Raises
        ------
        EntryError
            If it does not build.
        """
        declared = _listed(cpp_sources)
        texts = {f"cuda_{at}.cu": text for at, text in enumerate(_listed(cuda_sources))}
        texts |= {f"main_{at}.cpp": text for at, text in enumerate(declared)}
        parts = [part(file, text, self._job.kernel.files) for file, text in texts.items()]
        given = _listed(functions) if not isinstance(functions, dict) else list(functions)
        undeclared = next((each for each in given if not any(each in text for text in declared)), None)
        folder = self._lay(texts)
        if undeclared is not None:  # PyTorch compiles what names the functions with `cpp_sources`, and with them alone
            message = f"'{undeclared}' was not declared in this scope; declare it in cpp_sources"
            self._unit(texts, folder).refuse(Diagnostic(message))
        return self._module(self._build(parts, given, texts, folder))

    def load(self, name: str, sources: str | Sequence[str], **_: object) -> Any:
        """Stand in for ``torch.utils.cpp_extension.load``.

        Raises
        ------
        EntryError
            If it does not build.
        """
        kernel = self._job.kernel
        parts = []
        for source in _listed(sources):
            path, own = (self._folder / source).resolve(), self._folder.resolve()
            file = path.relative_to(own).as_posix() if path.is_relative_to(own) else ""
            if file not in kernel.files:
                raise RuntimeError(f"{source}: no such file in the kernel's folder")
            parts.append(Part(file, kernel.files[file], (file, 0)))
        return self._module(self._build(parts, (), kernel.files, self._folder))

    def _lay(self, texts: dict[str, str]) -> Path:
        folder = self._scratch / f"inline-{next(self._built)}"
        folder.mkdir(parents=True)
        for file, text in texts.items():
            (folder / file).write_text(text)
        return folder

    def _module(self, made: Extension) -> Any:
        return SimpleNamespace(**made.functions)

    def _unit(self, files: Any, folder: Path) -> Unit:
        scratch = self._scratch / f"extension-{next(self._built)}"
        scratch.mkdir(parents=True)
        return Unit(self._job, self._compiler, files, folder, self._told, scratch, self._numbers, self._objects)

    def _told(self, event: dict[str, object]) -> None:
        """Pass an event on; that there is no entry is an exception here, and told of by who imports the kernel."""
        if event["event"] == "load-failed":
            file, line = event["file"], event["line"]
            assert file is None or isinstance(file, str)
            assert line is None or isinstance(line, int)
            raise EntryError(EntryFault(event["fault"]), str(event["message"]), file, line)
        self._emit(event)

    def _build(self, parts: Sequence[Part], given: Iterable[str], files: Any, folder: Path) -> Extension:
        building = self._unit(files, folder)
        by_file = {each.file: each for each in parts}

        def place(file: str, line: int) -> tuple[str, int]:
            where = by_file[file].place(line) if file in by_file else (file, line)
            return (where[0], where[1]) if where[0] is not None and where[1] is not None else (file, line)

        try:
            include = [forward(self._scratch / "torch"), NAMES, INCLUDE]
            built = building.build(unit(self._compiler, parts, given), include, self._venue.link)
            library, called = self._venue.open(built, building, place)
        except BuildFailed as failed:
            error = failed.error
            name, line = building.own(error.file), error.line
            where = by_file[name].place(line) if name in by_file else (name, line)
            if (lacked := lacking(error)) is not None:
                raise EntryError(EntryFault.UNANSWERED, _LACKING.format(lacked), *where) from None
            with _as_failure(error.message, where):
                building.refuse(error, failed.said, where)
        except OSError as error:
            with _as_failure(str(error), (None, None)):
                building.unloadable(error)
        building.built()
        return Extension(library, called)


@contextlib.contextmanager
def _as_failure(message: str, where: tuple[str | None, int | None]) -> Iterator[None]:
    """Raise what a builder of extensions raises, once events have told of it."""
    try:
        yield
    except Refused:
        raise EntryError(EntryFault.IMPORT, f"Error building extension: {message}", *where) from None


class GateVenue:
    """The compile gate.

    Parameters
    ----------
    worn
        The chip that answers.
    """

    link = RECORDER

    def __init__(self, worn: Persona) -> None:
        self._worn = worn

    def open(self, library: Path, building: Unit, places: Places) -> tuple[ctypes.CDLL, Place]:
        """Load it, and tell it of the chip."""
        loaded = ctypes.CDLL(str(library))
        return loaded, _Gate(building, Recorder(loaded, self._worn.facts), self._worn, places)


class _Gate:
    """Where the functions of an extension are called: in a process that plays the chip's host.

    Parameters
    ----------
    building
        The unit that they were built from.
    recorder
        What its launches come to.
    worn
        The chip that answers.
    place
        Turns a file and a line of the unit's sources into the kernel's.
    """

    def __init__(self, building: Unit, recorder: Recorder, worn: Persona, place: Places) -> None:
        self._unit, self._recorder, self._worn, self._place = building, recorder, worn, place
        self._seen = 0

    def address(self, tensor: torch.Tensor) -> int:
        """Return an address that holds nothing for what plays the device's memory, as that is out of the host's reach.

        Raises
        ------
        MemoryError
            If the address space does not hold it.
        """
        if not self.on_device(tensor):
            return tensor.data_ptr()
        storage = tensor.untyped_storage()
        return nowhere(storage.nbytes(), storage.data_ptr()) + tensor.data_ptr() - storage.data_ptr()

    def on_device(self, tensor: torch.Tensor) -> bool:
        """Ask the ledger."""
        return self._worn.ledger.on_device(tensor)

    def stream(self) -> int:
        """Return the default stream."""
        return 0

    def launched(self, tensors: Sequence[torch.Tensor]) -> None:
        """Tell of what was launched since the last time.

        Raises
        ------
        RuntimeError
            If the chip refuses a launch.
        """
        for launch in self._recorder.launches(self._seen):
            self._seen += 1
            number = self._unit.specialisation(launch, self._place)
            self._worn.recorder.last_loaded = number
            if launch.refused:
                raise self._refusal(launch, number)
            self._worn.recorder.launched(number, launch.grid, tensors)
        if self._seen > _MANY:
            self._recorder.forget()
            self._seen = 0

    def _refusal(self, launch: Launch, number: int) -> Exception:
        from triton.runtime.errors import OutOfResources

        why = self._unit.refusal(launch, number)
        if "resource" in why:
            asked = launch.threads if why["resource"] == "threads" else launch.shared
            return OutOfResources(asked, launch.allowed, why["resource"])  # type: ignore[no-any-return]
        return RuntimeError(str(why["message"]))


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else [str(each) for each in value]
