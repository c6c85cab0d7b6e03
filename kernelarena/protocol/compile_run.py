"""Runs a kernel's host code under a persona and reports what happens. Executed in a disposable candidate process."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch

from kernelarena.platforms.persona import Persona, persona
from kernelarena.platforms.persona.capture import message_of
from kernelarena.platforms.persona.memory import lazy_zeros
from kernelarena.platforms.persona.source import chain, line_of
from kernelarena.protocol.compile_events import Arg
from kernelarena.protocol.compile_job import Call, CompileJob, make_calls
from kernelarena.protocol.entry import EntryError, answering_in_place, load_entry

Emit = Callable[[dict[str, object]], None]

_AHEAD = 20.0
"""Seconds for what is built ahead; the rest is built when it is needed."""
_RESOURCES = ("shared memory", "threads", "tensor memory", "registers", "grid")
_COMMON_PACKAGES = frozenset(
    {
        "torch", "triton", "numpy", "kernelarena", "functorch", "torchgen", "sympy", "mpmath", "networkx", "jinja2",
        "markupsafe", "filelock", "fsspec", "typing_extensions", "packaging", "setuptools", "pkg_resources",
    }
)  # fmt: skip
"""Torch, Triton and what they import themselves: their versions are part of the cache key already."""


def run(
    job: CompileJob,
    folder: Path,
    emit: Emit,
    scratch: Path | None = None,
    within: AbstractContextManager[object] | None = None,
) -> None:
    """Make every call of ``job`` and emit events (:mod:`kernelarena.protocol.compile_events`) as things happen.

    Calls of a dtype that has failed once are skipped: they would fail alike, and compiling is what takes time.

    Parameters
    ----------
    job
        What to do.
    folder
        Holds the kernel's files.
    emit
        Receives each event.
    scratch
        Where Triton may write; a folder beside ``folder`` if None.
    within
        Entered when the persona is on, just before the kernel's module is imported, and left before it comes off.
    """
    scratch = folder.parent / "compile" if scratch is None else scratch
    scratch.mkdir(parents=True, exist_ok=True)
    if job.kernel.language.is_cpp:
        from kernelarena.platforms.toolchains.built import FOLDER
        from kernelarena.platforms.toolchains.cpp.objects import Objects
        from kernelarena.protocol.compile_extension import Extensions, GateVenue  # imports what torch builds with
    before = set(sys.modules)
    teller = _Teller(emit)
    emit = teller.tell
    with ExitStack() as until:
        exempt = frozenset(job.framework)
        worn = until.enter_context(persona(job.platform, folder=folder, scratch=scratch, emit=emit, exempt=exempt))
        load: Callable[[], Callable[..., Any]] = partial(load_entry, folder, job.kernel.file, job.kernel.function)
        if job.kernel.language.is_cpp:
            extensions = Extensions(job, folder, emit, scratch, GateVenue(worn), Objects(scratch / FOLDER))
            load = until.enter_context(extensions.offered())
        until.enter_context(within or nullcontext())
        try:
            entry = answering_in_place(load(), job.in_place)
        except EntryError as error:
            emit(
                {
                    "event": "load-failed", "fault": error.fault.value, "message": str(error),
                    "file": error.file, "line": error.line,
                }
            )  # fmt: skip
            return
        failed = make_calls(job.calls, lambda index, call: _call(index, call, entry, worn, folder, emit))
        emit({"event": "ended", "sources": _sources(before, folder)})
        teller.silent = True
        started = time.monotonic()
        for index, call in enumerate(job.ahead):
            if call.shape.dtype not in failed and time.monotonic() - started < _AHEAD:
                _call(index, call, entry, worn, folder, emit)


class _Teller:
    """Passes events on, until nothing that happens counts any more.

    Parameters
    ----------
    emit
        Receives each.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self.silent = False

    def tell(self, event: dict[str, object]) -> None:
        """Pass an event on."""
        if not self.silent:
            self._emit(event)


def _call(index: int, call: Call, entry: Callable[..., Any], worn: Persona, folder: Path, emit: Emit) -> bool:
    emit({"event": "call-begins", "index": index})
    worn.recorder.take_counts()  # launches at import are nobody's work
    failure = None
    returned: tuple[Any, ...] = ()
    with worn.observer.call() as observed:
        try:
            made = entry(*[_argument(arg, worn) for arg in call.args])
            returned = tuple(made) if isinstance(made, tuple | list) else (made,)
        except BaseException as error:  # SystemExit too: it is the kernel's, and must not look like an end of ours
            failure = _describe(error, worn, folder)
    summary = observed.summary(returned)
    emit(
        {
            "event": "call-ends", "index": index, "failure": failure,
            "outputs": [_output(output) for output in returned], "derived": summary["derived"],
            "launches": sorted(worn.recorder.take_counts().items()),
            "launched_elements": summary["launched_elements"], "operators": summary["operators"],
        }
    )  # fmt: skip
    return failure is None


def _argument(arg: Arg, worn: Persona) -> Any:
    if arg.dtype is None:
        return arg.value
    tensor = lazy_zeros(arg.size, arg.stride, getattr(torch, arg.dtype), arg.offset)
    worn.ledger.enter(tensor, device=True, argument=True)
    return tensor


def _output(output: object) -> dict[str, object] | None:
    if not isinstance(output, torch.Tensor):
        return None
    stride = list(output.stride()) if output.layout is torch.strided else None
    return {"dtype": str(output.dtype).removeprefix("torch."), "size": list(output.shape), "stride": stride}


def _describe(error: BaseException, worn: Persona, folder: Path) -> dict[str, object]:
    """Describe an exception that reached the caller, and which specialisation it is about."""
    numbered = next((link for link in chain(error, _beside) if hasattr(link, "_persona_number")), None)
    resource = None
    number = getattr(numbered, "_persona_number", None)
    exhausted = _exhausted(error)
    if exhausted is not None:
        name = getattr(exhausted, "name", None)
        resource = name if name in _RESOURCES else "memory"
        number = worn.recorder.last_loaded if resource != "memory" else None
    where = line_of(error, folder) or (None, None)
    return {
        "type": type(error).__name__, "message": message_of(error), "file": where[0], "line": where[1],
        "number": number, "resource": resource, "compiling": exhausted is None and numbered is not None,
    }  # fmt: skip


def _beside(error: BaseException) -> BaseException | None:
    """Return what an error was raised from or, hidden or not, while handling."""
    return error.__cause__ or error.__context__


def _exhausted(error: BaseException) -> BaseException | None:
    from triton.runtime.errors import OutOfResources

    from kernelarena.platforms.persona.driver import GridTooLarge

    kinds = (OutOfResources, GridTooLarge, MemoryError, torch.OutOfMemoryError)
    return next((link for link in chain(error, lambda link: link.__cause__) if isinstance(link, kinds)), None)


def _sources(before: set[str], folder: Path) -> dict[str, str]:
    """Return the files imported since ``before`` that neither the kernel nor a common package brings."""
    library = [Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "platstdlib")]
    found = {}
    for name in sorted(set(sys.modules) - before):
        if name.split(".")[0] in _COMMON_PACKAGES:
            continue
        file = getattr(sys.modules[name], "__file__", None)
        if not file:
            continue
        path = Path(file).resolve()
        in_library = any(root in path.parents for root in library) and "site-packages" not in path.parts
        if not in_library and folder.resolve() not in path.parents and path.is_file():
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
