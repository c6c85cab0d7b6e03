"""One translation unit in C++ on its way through the compile gate: it is built, and told of, with what it launches.

Executed in a disposable candidate process. What a launch asks for (threads, dynamic shared memory) and what the
compiler says of its kernel (registers, spills, static shared memory) make a specialisation.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.cpp.compiler import RECORDER, Compiler
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic, excerpt, first_error
from kernelarena.platforms.toolchains.cpp.hipify import difference
from kernelarena.platforms.toolchains.cpp.names import demangled, line_of
from kernelarena.platforms.toolchains.cpp.objects import Objects, unit_name
from kernelarena.platforms.toolchains.cpp.recorded import Launch
from kernelarena.protocol.compile_job import CompileJob
from kernelarena.protocol.entry import EntryFault

Emit = Callable[[dict[str, object]], None]

UNIT = "ka_unit.cu"  # a suffix that both compilers take for device code


class Refused(Exception):
    """The compiler, or what it was given, is at fault; events have told."""


class BuildFailed(Exception):
    """A compiler refused a unit.

    Attributes
    ----------
    error
        Its first error.
    said
        The beginning of its output.
    """

    def __init__(self, error: Diagnostic, said: str) -> None:
        super().__init__(error.message)
        self.error = error
        self.said = said


class Unit:
    """A translation unit that is built for a chip.

    Parameters
    ----------
    job
        The kernel and the chip.
    compiler
        What builds.
    files
        The sources, by their names below ``folder``.
    folder
        Where they lie.
    emit
        Receives each event.
    scratch
        Where to build.
    numbers
        Gives out the numbers of specialisations.
    objects
        What has been compiled already, and where to keep what is.
    """

    def __init__(
        self,
        job: CompileJob,
        compiler: Compiler,
        files: Mapping[str, str],
        folder: Path,
        emit: Emit,
        scratch: Path,
        numbers: itertools.count[int],
        objects: Objects,
    ) -> None:
        self._job, self._compiler, self._files, self._emit, self._scratch = job, compiler, files, emit, scratch
        self._folder = _translated(compiler, files, folder, scratch / "translated")
        self._numbers, self._objects = numbers, objects
        self._needs: dict[str, Needs] = {}
        self._known: dict[tuple[str, int, int], int] = {}
        self._include: list[Path] = []
        self.seconds = 0.0
        self.number = self._begin(job.kernel.file, "", 1, line=None, unit=True)

    def build(self, text: str, include: Sequence[Path], link: Path = RECORDER) -> Path:
        """Build a text that includes the sources, link it with what takes note of launches, and return the library.

        Raises
        ------
        BuildFailed
            If a compiler refuses.
        """
        library = self._scratch / "kernel.so"
        (self._scratch / UNIT).write_text(text)
        self._compiler.prepare(self._job.platform.arch, self._scratch)
        self._include = [*include, self._folder]
        started = time.perf_counter()
        objects = [self._unit(text), self._host(link)]
        self._compiled(self._compiler.link(objects, library), library)
        self.seconds = time.perf_counter() - started
        return library

    def _unit(self, text: str) -> Path:
        """Return the object of the unit, and take note of what its kernels need."""
        arch, output = self._job.platform.arch, self._scratch / "unit.o"
        name = unit_name(self._compiler, arch, text, self._files)
        known = self._objects.unit(name)
        if known is not None:
            made, self._needs = known
            return made
        said = self._compiled(self._compiler.unit(arch, self._scratch / UNIT, output, self._include), output)
        self._needs = self._compiler.needs(said)
        return self._objects.keep(name, output, self._needs)

    def _host(self, source: Path) -> Path:
        """Return the object of what the unit is linked with."""
        output = self._scratch / f"{source.stem}.o"
        known = self._objects.host(self._compiler, source)
        if known is None:
            self._compiled(self._compiler.host(source, output), output)
        return known or output

    def _compiled(self, command: list[str], output: Path) -> str:
        """Return what a compiler printed that made ``output``; what of it is of use goes to the log."""
        status, told = self._run(command)
        said = excerpt(told, self._compiler.is_remark)
        if said:
            print(said, flush=True)
        if status != 0 or not output.exists():
            error = first_error(told)
            raise BuildFailed(error or Diagnostic(f"the compiler ended with status {status} and names no error"), said)
        return told

    def assembly(self) -> str:
        """Return the assembly text of the device's code of what was built last.

        Raises
        ------
        BuildFailed
            If the compiler, which has just built it, refuses.
        """
        output = self._scratch / "kernel.s"
        command = self._compiler.assembly(self._job.platform.arch, self._scratch / UNIT, output, self._include)
        status, said = self._run(command)
        if status != 0:
            raise BuildFailed(first_error(said) or Diagnostic(f"the compiler ended with status {status}"), said)
        return output.read_text()

    def built(self) -> None:
        """Tell that it was built."""
        self._emit({"event": "compiled", "number": self.number, "seconds": self.seconds, "warps": 1, "shared": 0})

    def _run(self, command: list[str]) -> tuple[int, str]:
        """Return a compiler's exit status and what it printed; it ends with this process, whose deadline holds."""
        done = subprocess.run(
            command, cwd=self._scratch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.decode(errors="replace")

    def refuse(self, error: Diagnostic, said: str = "", where: tuple[str | None, int | None] = (None, None)) -> None:
        """Tell of what cannot be built: text that is no C++, what this compiler has not, or anything else.

        Raises
        ------
        Refused
            Always.
        """
        file, line = where
        if (lacking := self._compiler.lacks(error)) is not None:
            error = Diagnostic(f"{lacking}: it is not supported on {self._job.platform.id}")
        elif error.is_syntax:
            self.fault(EntryFault.SYNTAX, error.message, file or self._job.kernel.file, line)
        self._emit(
            {
                "event": "compile-failed", "number": self.number, "error": "CompileError",
                "message": error.message[:2000], "log": said, "file": file, "line": line if file is not None else None,
            }
        )  # fmt: skip
        raise Refused

    def fault(self, fault: EntryFault, message: str, file: str | None, line: int | None) -> None:
        """Tell that there is no entry to be called.

        Raises
        ------
        Refused
            Always.
        """
        self._emit(
            {"event": "load-failed", "fault": fault.value, "message": message[:2000], "file": file, "line": line}
        )
        raise Refused

    def unloadable(self, error: OSError) -> None:
        """Tell of a library that was built and does not load.

        Raises
        ------
        Refused
            Always.
        """
        missing = re.search(r"undefined symbol: (\w+)", str(error))
        message = (
            f"'{demangled(missing[1])}' is neither in its sources nor among what the compile gate answers of the "
            "runtime (docs/cpp.md); call what it has"
            if missing is not None
            else f"what was built does not load: {error}"
        )
        self.refuse(Diagnostic(message))

    def own(self, file: str | None) -> str | None:
        """Return a file that the compiler names as the kernel names it; None for one that is not its own."""
        if file is None:
            return None
        path = (self._scratch / file).resolve()
        folder = self._folder.resolve()
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else None

    def specialisation(self, launch: Launch, place: Callable[[str, int], tuple[str, int]] | None = None) -> int:
        """Return the number of a launch's specialisation, which is told of before it is launched for the first time.

        Parameters
        ----------
        launch
            The launch.
        place
            Turns a file and a line of the sources into those of the kernel, where they are others.
        """
        threads = launch.threads
        key = (launch.function, threads, launch.shared)
        if key not in self._known:
            needs = self._needs.get(launch.function, Needs())
            name = demangled(launch.function)
            signed = f"{threads} threads" + (f", {launch.shared} bytes of dynamic shared memory" * bool(launch.shared))
            line = self._line(name)
            if line is not None and place is not None:
                line = place(*line)
            number = self._known[key] = self._begin(name.partition("(")[0], signed, self._warps(threads), line)
            self._emit(
                {
                    "event": "compiled", "number": number, "seconds": self.seconds, "warps": self._warps(threads),
                    "shared": needs.static_shared + launch.shared, "registers": needs.registers,
                    "scalar_registers": needs.scalar_registers, "spills": needs.spills, "scratch": needs.scratch,
                }
            )  # fmt: skip
        return self._known[key]

    def refusal(self, launch: Launch, number: int) -> dict[str, object]:
        """Say why the chip refuses a launch."""
        limits = self._job.platform.limits
        assert limits is not None
        if launch.threads > limits.max_threads_per_block:
            return {"type": "LaunchError", "message": "too many threads", "number": number, "resource": "threads"}
        if launch.shared > limits.shared_memory_per_block:
            return {"type": "LaunchError", "message": "too much", "number": number, "resource": "shared memory"}
        if launch.shared > launch.allowed:
            message = (
                f"{demangled(launch.function).partition('(')[0]} asks for {launch.shared} bytes of dynamic shared "
                f"memory, of which the runtime allows {launch.allowed} unless the function's limit is raised first"
            )
        else:
            message = f"a grid of {_times(launch.grid)} blocks of {_times(launch.block)} threads cannot be launched"
        return {"type": "LaunchError", "message": message}

    def _begin(self, kernel: str, signed: str, warps: int, line: tuple[str, int] | None, unit: bool = False) -> int:
        number = next(self._numbers)
        file, at = line if line is not None else (None, None)
        self._emit(
            {
                "event": "compiling", "number": number, "kernel": kernel[:1000], "signature": signed, "warps": warps,
                "file": file, "line": at, "unit": unit,
            }
        )  # fmt: skip
        return number

    def _line(self, name: str) -> tuple[str, int] | None:
        """Return where a kernel is defined."""
        plain = re.split(r"[(<]", name)[0].split()[-1].rpartition("::")[2]
        for file, text in sorted(self._files.items(), key=lambda item: item[0] != self._job.kernel.file):
            if (line := line_of(text, plain, after="__global__")) is not None:
                return file, line
        return None

    def _warps(self, threads: int) -> int:
        limits = self._job.platform.limits
        return -(-threads // (limits.warp_size if limits else 32))


def _translated(compiler: Compiler, files: Mapping[str, str], folder: Path, into: Path) -> Path:
    """Return where sources lie in the compiler's own language, and print what was changed in them."""
    after = {file: compiler.translated(text) for file, text in files.items()}
    if after == files:
        return folder
    for file, text in after.items():
        path = into / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if changed := difference(file, files[file], text):
            print(changed, flush=True)
    return into


def _times(three: tuple[int, int, int]) -> str:
    return " × ".join(map(str, three))
