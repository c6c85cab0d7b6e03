"""Builds a C++ kernel for a chip and runs its host code without one. Executed in a disposable candidate process.

It reports the events of :mod:`kernelarena.protocol.compile_events`, so that one place decides on kernels of every
language: what a launch asks for (threads, dynamic shared memory) and what the compiler says of its kernel (registers,
spills, static shared memory) make a specialisation.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from kernelarena.platforms.persona.facts import facts
from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE, RECORDER, Compiler
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic, excerpt, first_error
from kernelarena.platforms.toolchains.cpp.entry import Signature, signature, source
from kernelarena.platforms.toolchains.cpp.finding import find
from kernelarena.platforms.toolchains.cpp.hipify import difference
from kernelarena.platforms.toolchains.cpp.names import demangled, line_of
from kernelarena.platforms.toolchains.cpp.recorded import Described, Launch, Recorded
from kernelarena.protocol.compile_events import Arg, TensorSpec
from kernelarena.protocol.compile_job import Call, CompileJob, make_calls
from kernelarena.protocol.entry import EntryFault

Emit = Callable[[dict[str, object]], None]

_UNIT = "ka_unit.cu"  # a suffix that both compilers take for device code
_UNDECLARED = re.compile(r"identifier \"(\w+)\" is undefined|use of undeclared identifier '(\w+)'")


def run(job: CompileJob, folder: Path, emit: Emit, scratch: Path) -> None:
    """Build the kernel of ``job``, make every call, and emit events as things happen.

    Parameters
    ----------
    job
        What to do.
    folder
        Holds the kernel's files.
    emit
        Receives each event.
    scratch
        Where to build.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    Build(job, folder, emit, scratch).run()


class _Refused(Exception):
    """The compiler, or what it was given, is at fault; events have told."""


class Build:
    """One kernel on its way through the gate.

    Parameters
    ----------
    job, folder, emit, scratch
        As of :func:`run`.
    """

    def __init__(self, job: CompileJob, folder: Path, emit: Emit, scratch: Path) -> None:
        self._job, self._emit, self._scratch = job, emit, scratch
        self._compiler: Compiler = find(job.kernel.language, job.platform.arch)
        self._folder = _translated(self._compiler, job.kernel.files, folder, scratch / "translated")
        self._signature = _signature(job)
        self._needs: dict[str, Needs] = {}
        self._seconds = 0.0
        self._known: dict[tuple[str, int, int], int] = {}
        self._numbers = itertools.count()

    def run(self) -> None:
        """Build, load, and make the calls."""
        number = self._begin(self._job.kernel.file, "", 1, line=None, unit=True)
        try:
            library = self._build(number)
            recorded = self._load(number, library)
        except _Refused:
            return
        self._emit({"event": "compiled", "number": number, "seconds": self._seconds, "warps": 1, "shared": 0})
        make_calls(self._job.calls, lambda index, call: self._call(index, call, recorded))
        self._emit({"event": "ended"})

    def _build(self, number: int) -> Path:
        unit, library, recorder = (self._scratch / name for name in (_UNIT, "kernel.so", "recorder.o"))
        unit.write_text(source(self._compiler, self._signature, self._job.kernel.file))
        arch = self._job.platform.arch
        self._compiler.prepare(arch, self._scratch)
        started = time.perf_counter()
        status, output = self._run(self._compiler.host(RECORDER, recorder))
        if status == 0:
            include = [INCLUDE, self._folder]
            status, output = self._run(self._compiler.library(arch, unit, [recorder], library, include))
        self._seconds = time.perf_counter() - started
        said = excerpt(output, self._compiler.is_remark)
        if said:
            print(said, flush=True)
        if status != 0 or not library.exists():
            self._refuse(number, first_error(output), said, status)
        self._needs = self._compiler.needs(output)
        return library

    def _run(self, command: list[str]) -> tuple[int, str]:
        """Return a compiler's exit status and what it printed; it ends with this process, whose deadline holds."""
        done = subprocess.run(
            command, cwd=self._scratch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.decode(errors="replace")

    def _refuse(self, number: int, error: Diagnostic | None, said: str, status: int) -> None:
        """Tell of a build that failed: of text that is no C++, of an entry that is not there, or of anything else."""
        kernel = self._job.kernel
        if error is None:
            error = Diagnostic(f"the compiler ended with status {status} and names no error")
        file = self._relative(error.file)
        if error.file is not None and Path(error.file).name == _UNIT:
            undeclared = _UNDECLARED.search(error.message)
            if undeclared is not None and kernel.function in undeclared.groups():
                message = f"{kernel.file} declares no function '{kernel.function}'; write `{self._signature}`"
                self._fault(EntryFault.MISSING, message, kernel.file, None)
            error = Diagnostic(f"the entry is not `{self._signature}`: {error.message}")
            file, line = kernel.file, line_of(kernel.files[kernel.file], kernel.function)
        else:
            line = error.line
        if (lacking := self._compiler.lacks(error)) is not None:
            error = Diagnostic(f"{lacking}: it is not supported on {self._job.platform.id}")
        elif error.is_syntax:
            self._fault(EntryFault.SYNTAX, error.message, file or kernel.file, line)
        self._emit(
            {
                "event": "compile-failed", "number": number, "error": "CompileError", "message": error.message[:2000],
                "log": said, "file": file, "line": line if file is not None else None,
            }
        )  # fmt: skip
        raise _Refused

    def _fault(self, fault: EntryFault, message: str, file: str | None, line: int | None) -> None:
        self._emit(
            {"event": "load-failed", "fault": fault.value, "message": message[:2000], "file": file, "line": line}
        )
        raise _Refused

    def _relative(self, file: str | None) -> str | None:
        """Return a file of the kernel's as the kernel names it; None for one that is not its own."""
        if file is None:
            return None
        path = (self._scratch / file).resolve()
        folder = self._folder.resolve()
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else None

    def _load(self, number: int, library: Path) -> Recorded:
        try:
            return Recorded(library, facts(self._job.platform))
        except OSError as error:
            missing = re.search(r"undefined symbol: (\w+)", str(error))
            message = (
                f"'{demangled(missing[1])}' is neither in its sources nor among what the compile gate answers of the "
                "runtime (docs/cpp.md); call what it has"
                if missing is not None
                else f"what was built does not load: {error}"
            )
            self._refuse(number, Diagnostic(message), "", 0)
            raise AssertionError from error  # it has raised

    def _call(self, index: int, call: Call, recorded: Recorded) -> bool:
        self._emit({"event": "call-begins", "index": index})
        try:
            status, launches = recorded.call([*map(_argument, call.args), *map(_output, call.outputs or ())])
        except MemoryError as error:
            self._end(index, Counter(), {"type": "MemoryError", "message": str(error), "resource": "memory"})
            return False
        counts: Counter[int] = Counter()
        failure: dict[str, object] | None = None
        for launch in launches:
            number = self._specialisation(launch)
            counts[number] += 1
            if launch.refused and failure is None:
                failure = self._refusal(launch, number)
        if failure is None and status != 0:
            failure = {"type": recorded.error(status), "message": f"the entry returned {status}"}
        self._end(index, counts, failure, call)
        return failure is None

    def _specialisation(self, launch: Launch) -> int:
        """Return the number of a launch's specialisation, told of before it is launched for the first time."""
        threads = launch.threads
        key = (launch.function, threads, launch.shared)
        if key not in self._known:
            needs = self._needs.get(launch.function, Needs())
            name = demangled(launch.function)
            signed = f"{threads} threads" + (f", {launch.shared} bytes of dynamic shared memory" * bool(launch.shared))
            number = self._known[key] = self._begin(
                name.partition("(")[0], signed, self._warps(threads), self._line(name)
            )
            self._emit(
                {
                    "event": "compiled", "number": number, "seconds": self._seconds, "warps": self._warps(threads),
                    "shared": needs.static_shared + launch.shared, "registers": needs.registers,
                    "scalar_registers": needs.scalar_registers, "spills": needs.spills, "scratch": needs.scratch,
                }
            )  # fmt: skip
            self._emit({"event": "launch", "number": number, "grid": list(launch.grid)})
        return self._known[key]

    def _refusal(self, launch: Launch, number: int) -> dict[str, object]:
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
        for file, text in sorted(self._job.kernel.files.items(), key=lambda item: item[0] != self._job.kernel.file):
            if (line := line_of(text, plain, after="__global__")) is not None:
                return file, line
        return None

    def _warps(self, threads: int) -> int:
        limits = self._job.platform.limits
        return -(-threads // (limits.warp_size if limits else 32))

    def _end(
        self, index: int, counts: Counter[int], failure: dict[str, object] | None, call: Call | None = None
    ) -> None:
        """Tell that a call ended. Its outputs are what the caller handed in, of the task's size and dtype."""
        outputs = [] if call is None else [{"dtype": out.dtype, "size": list(out.size)} for out in call.outputs or ()]
        self._emit(
            {
                "event": "call-ends", "index": index, "failure": failure, "outputs": outputs,
                "derived": [True] * len(outputs), "launches": sorted(counts.items()),
            }
        )  # fmt: skip


def _translated(compiler: Compiler, files: Mapping[str, str], folder: Path, into: Path) -> Path:
    """Return where a kernel's files lie in the compiler's own language, and print what was changed in them."""
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


def _signature(job: CompileJob) -> Signature:
    first = job.calls[0]
    inputs = [(arg.name, None if arg.dtype is not None else arg.value) for arg in first.args]
    return signature(job.kernel.function, inputs, len(first.outputs or ()))


def _argument(arg: Arg) -> Described | bool | int | float:
    if arg.dtype is None:
        assert arg.value is not None
        return arg.value
    width = _itemsize(arg.dtype)
    return Described(arg.dtype, arg.size, arg.stride, _extent(arg.size, arg.stride) * width, arg.offset * width)


def _output(output: TensorSpec) -> Described:
    size = output.size
    stride = tuple(itertools.accumulate((1, *reversed(size[1:])), lambda a, b: a * max(b, 1)))[::-1] if size else ()
    return Described(output.dtype, size, stride, _extent(size, stride) * _itemsize(output.dtype))


def _itemsize(dtype: str) -> int:
    described: torch.dtype = getattr(torch, dtype)
    return described.itemsize


def _extent(size: tuple[int, ...], stride: tuple[int, ...]) -> int:
    return 0 if 0 in size else 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))


def _times(three: tuple[int, int, int]) -> str:
    return " × ".join(map(str, three))
