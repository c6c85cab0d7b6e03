"""Builds a C++ kernel for a chip and runs its host code without one. Executed in a disposable candidate process.

It reports the events of :mod:`kernelarena.protocol.compile_events`, so that one place decides on kernels of every
language.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch

from kernelarena.platforms.persona.facts import facts
from kernelarena.platforms.toolchains.built import FOLDER
from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic
from kernelarena.platforms.toolchains.cpp.entry import Signature, signature, source
from kernelarena.platforms.toolchains.cpp.finding import find
from kernelarena.platforms.toolchains.cpp.names import line_of
from kernelarena.platforms.toolchains.cpp.objects import Objects
from kernelarena.platforms.toolchains.cpp.recorded import Described, Recorded
from kernelarena.protocol.compile_events import Arg, TensorSpec
from kernelarena.protocol.compile_job import Call, CompileJob, make_calls
from kernelarena.protocol.compile_unit import UNIT, BuildFailed, Emit, Refused, Unit
from kernelarena.protocol.entry import EntryFault

_UNDECLARED = re.compile(r"identifier \"(\w+)\" is undefined|use of undeclared identifier '(\w+)'")


def run(
    job: CompileJob, folder: Path, emit: Emit, scratch: Path, compiled: Callable[[], object] = lambda: None
) -> None:
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
    compiled
        Called when the unit has been compiled and nothing of it has run yet.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    compiler = find(job.kernel.language, job.platform.arch)
    objects = Objects(scratch / FOLDER)
    unit = Unit(job, compiler, job.kernel.files, folder, emit, scratch, itertools.count(), objects)
    wanted = signature_of(job)
    try:
        library = unit.build(source(compiler, wanted, job.kernel.file), [INCLUDE])
        compiled()
        recorded = Recorded(library, facts(job.platform))
    except BuildFailed as failed:
        with contextlib.suppress(Refused):
            _refuse(job, unit, wanted, failed)
        return
    except OSError as error:
        with contextlib.suppress(Refused):
            unit.unloadable(error)
        return
    unit.built()
    launched: set[int] = set()
    make_calls(job.calls, lambda index, call: _call(index, call, unit, recorded, launched, emit))
    emit({"event": "ended"})


def _refuse(job: CompileJob, unit: Unit, wanted: Signature, failed: BuildFailed) -> None:
    """Tell of a build that failed; what the compiler says of our own text is about the entry."""
    kernel, error = job.kernel, failed.error
    if error.file is None or Path(error.file).name != UNIT:
        unit.refuse(error, failed.said, (unit.own(error.file), error.line))
    undeclared = _UNDECLARED.search(error.message)
    if undeclared is not None and kernel.function in undeclared.groups():
        message = f"{kernel.file} declares no function '{kernel.function}'; write `{wanted}`"
        unit.fault(EntryFault.MISSING, message, kernel.file, None)
    line = line_of(kernel.files[kernel.file], kernel.function)
    unit.refuse(Diagnostic(f"the entry is not `{wanted}`: {error.message}"), failed.said, (kernel.file, line))


def _call(index: int, call: Call, unit: Unit, recorded: Recorded, launched: set[int], emit: Emit) -> bool:
    emit({"event": "call-begins", "index": index})
    counts: Counter[int] = Counter()
    failure: dict[str, object] | None = None
    try:
        status, launches = recorded.call([*map(_argument, call.args), *map(_output, call.outputs or ())])
    except MemoryError as error:
        _end(index, counts, {"type": "MemoryError", "message": str(error), "resource": "memory"}, (), emit)
        return False
    for launch in launches:
        number = unit.specialisation(launch)
        if number not in launched:
            launched.add(number)
            emit({"event": "launch", "number": number, "grid": list(launch.grid)})
        counts[number] += 1
        if launch.refused and failure is None:
            failure = unit.refusal(launch, number)
    if failure is None and status != 0:
        failure = {"type": recorded.error(status), "message": f"the entry returned {status}"}
    _end(index, counts, failure, call.outputs or (), emit)
    return failure is None


def _end(
    index: int,
    counts: Counter[int],
    failure: dict[str, object] | None,
    outputs: tuple[TensorSpec, ...],
    emit: Emit,
) -> None:
    """Tell that a call ended. Its outputs are what the caller handed in, of the task's size and dtype."""
    emit(
        {
            "event": "call-ends", "index": index, "failure": failure,
            "outputs": [{"dtype": out.dtype, "size": list(out.size)} for out in outputs],
            "derived": [True] * len(outputs), "launches": sorted(counts.items()),
        }
    )  # fmt: skip


def signature_of(job: CompileJob) -> Signature:
    """Return what a task asks of the entry of a job's kernel."""
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
