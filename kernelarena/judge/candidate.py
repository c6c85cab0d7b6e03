"""What runs in the process that a kernel is given: it obeys the judge's requests and reports claims.

Nothing here is trusted once the kernel's module has been imported; the judge checks every answer. The process knows
the kernel's files, the platform it must pretend to be, and the inputs of the current call. It knows no reference, no
seed, and no shape before its turn.
"""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelarena.judge import sandbox
from kernelarena.judge.arena import Allocator, Place, Scalar, dtype_name, map_inputs, tensor_at
from kernelarena.judge.wire import Wire, WireError
from kernelarena.platforms.persona.ledger import Ledger

_PACKAGE = Path(__file__).resolve().parent.parent
_MESSAGE_LIMIT = 2000  # characters; a hostile message may be endless


def serve(wire: Wire, scratch: str, quota: sandbox.Quota) -> None:
    """Answer requests until the judge hangs up.

    Parameters
    ----------
    wire
        To the judge.
    scratch
        The folder with the kernel's files in ``kernel/``; everything written goes below it.
    quota
        Resource limits, applied before anything else.
    """
    sandbox.confine(Path(scratch), quota)
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)
    worker = Candidate(Path(scratch))
    while True:
        try:
            request, files = wire.receive_with_files()
        except WireError:
            return
        if request["do"] == "compile":
            worker.compile(request, wire)
        elif request["do"] == "load":
            wire.send(worker.load(request))
        elif request["do"] == "call":
            wire.send(worker.call(request, files))


class Candidate:
    """The state of a candidate process between requests."""

    def __init__(self, scratch: Path) -> None:
        self.folder = scratch / "kernel"
        self.scratch = scratch
        self._kept: list[object] = []  # mappings stay until the process ends: a kernel may still point into them
        self._stack = contextlib.ExitStack()

    def compile(self, request: dict[str, Any], wire: Wire) -> None:
        """Run the compile gate and pass its events on as they come."""
        from kernelarena.protocol.compile import CompileJob
        from kernelarena.protocol.compile_run import run

        job = CompileJob.model_validate(request["job"])
        run(job, self.folder, lambda event: wire.send({"event": event}))
        wire.send({"done": True})

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put on the platform's face and import the kernel's entry."""
        from kernelarena.platforms.persona import emulation
        from kernelarena.protocol.entry import EntryError, load_entry
        from kernelarena.spec import Platform

        platform = Platform.model_validate(request["platform"])
        self.observer = self._stack.enter_context(emulation(platform, self.scratch))
        try:
            self.entry = load_entry(self.folder, request["file"], request["function"])
        except EntryError as error:
            _print(error)
            fault = {"fault": error.fault.value, "message": str(error), "file": error.file, "line": error.line}
            return {"load-failed": fault}
        return {"loaded": True}

    def call(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Call the entry once; inputs and whatever it allocates lie in memory that the judge shares."""
        inputs, outputs = files
        memory = map_inputs(inputs, [tuple(fence) for fence in request["fences"]])
        allocator = Allocator(outputs, request["returned"])
        self._kept += [memory, allocator]
        arguments = [self._argument(item, memory) for item in request["arguments"]]
        try:
            with self.observer.call() as observed, _ArenaMode(allocator, request["poison"], self.observer.ledger):
                result = self.entry(*arguments)
            returned = tuple(result) if isinstance(result, tuple | list) else (result,)
            seen = observed.summary(returned)
            described = [self._describe_output(output, allocator) for output in returned]
        except BaseException as error:
            return {"failed": describe(error)}
        blocks = [block.model_dump() for block in allocator.blocks]
        return {"outputs": described, "blocks": blocks, "observed": seen}

    def _argument(self, item: dict[str, Any], memory: Any) -> Any:
        if "value" in item:
            return Scalar.model_validate(item).value
        tensor = tensor_at(memory, Place.model_validate(item))
        entry = self.observer.ledger.enter(tensor, device=True, argument=True)
        if entry is not None:
            entry.device = entry.argument = True
        return tensor

    @staticmethod
    def _describe_output(output: object, allocator: Allocator) -> dict[str, Any]:
        if not isinstance(output, torch.Tensor):
            return {"type": type(output).__name__}
        output = output.detach()
        place = allocator.give_back(output)
        return {
            "dtype": dtype_name(output.dtype),
            "size": list(output.shape),
            "place": None if place is None else place.model_dump(),
        }


class _ArenaMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Serves allocations of the kernel's host code from memory that is poisoned and guarded."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, which takes seconds, for the first operator

    def __init__(self, allocator: Allocator, poison: int, ledger: Ledger) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ledger = ledger
        self._allocator = allocator
        self._poison = poison

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        fill = _ALLOCATIONS.get(func.overloadpacket)
        if fill is None or not isinstance(made, torch.Tensor) or made.layout != torch.strided or not made.numel():
            return made
        placed = self._allocator.allocate(made.shape, made.stride(), made.dtype)
        if placed is not None:
            entry = self._ledger.enter(placed, device=False)
            if entry is not None:
                entry.device = self._ledger.on_device(made)
            if fill:
                placed.copy_(made)
            return placed
        if not fill:  # it did not fit: poison it where it is, though no band protects it
            storage = torch.empty(0, dtype=torch.uint8).set_(made.untyped_storage())
            storage.fill_(self._poison)
        return made


_aten = torch.ops.aten
_ALLOCATIONS = {
    _aten.empty: False, _aten.empty_like: False, _aten.empty_strided: False, _aten.new_empty: False,
    _aten.new_empty_strided: False, _aten.empty_permuted: False,
    _aten.zeros: True, _aten.zeros_like: True, _aten.new_zeros: True, _aten.ones: True, _aten.ones_like: True,
    _aten.new_ones: True, _aten.full: True, _aten.full_like: True, _aten.new_full: True,
}  # fmt: skip
"""Operators that allocate, and whether they also fill."""


def describe(error: BaseException) -> dict[str, Any]:
    """Describe an exception as plain data: its type, its message and the lines it passed through, innermost first.

    An exception of the kernel's making may misbehave when it is looked at; that must not get in the way.
    """
    chain: list[BaseException] = []
    seen: BaseException | None = error
    while seen is not None and len(chain) < 5:
        chain.append(seen)
        seen = seen.__cause__ or seen.__context__
    try:
        message = str(error)
    except BaseException as worse:
        message = f"(its message cannot be shown: {type(worse).__name__})"
    frames = [
        [frame.filename, frame.lineno] for link in chain for frame in reversed(list(_frames(link))) if frame.lineno
    ]
    _print(error)
    return {"types": [type(link).__name__ for link in chain], "message": message[:_MESSAGE_LIMIT], "frames": frames}


def _print(error: BaseException) -> None:
    """Print an exception into the log, without the harness's own frames: they are not what its author looks for."""
    with contextlib.suppress(BaseException):
        shown = traceback.TracebackException.from_exception(error)
        link: traceback.TracebackException | None = shown
        while link is not None:
            kept = [frame for frame in link.stack if not Path(frame.filename).is_relative_to(_PACKAGE)]
            link.stack = traceback.StackSummary.from_list(kept[-20:])
            link = link.__cause__ or link.__context__
        print("".join(shown.format()), file=sys.stderr, flush=True)


def _frames(error: BaseException) -> Iterator[traceback.FrameSummary]:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        yield traceback.FrameSummary(error.filename, error.lineno, "", lookup_line=False)
        return
    yield from traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)
