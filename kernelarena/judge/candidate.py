"""What runs in the process that a kernel is given: it obeys the judge's requests and reports claims.

Nothing here is trusted once the kernel's module has been imported; the judge checks every answer. The process knows
the kernel's files, the platform it must pretend to be, and the inputs of the current call. It knows no reference, no
seed, and no shape before its turn.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from kernelarena.judge import sandbox, stacks
from kernelarena.judge.allocation import ArenaMode
from kernelarena.judge.arena import Allocator, Place, Scalar, describe_place, dtype_name, tensor_at
from kernelarena.judge.device_stage import DeviceAccess, DeviceStage
from kernelarena.judge.failing import describe, show
from kernelarena.judge.integrity.guard import Guard
from kernelarena.judge.memory import Fence, Window
from kernelarena.judge.plain import is_deferred, outputs_of
from kernelarena.judge.rehearsal import Rehearsal
from kernelarena.judge.stage import HostStage, Stage
from kernelarena.judge.wire import ACT, Wire, WireError
from kernelarena.platforms.persona import digest
from kernelarena.platforms.persona.account import Observed
from kernelarena.platforms.toolchains import built
from kernelarena.spec import Reason

_MOST_OUTPUTS = 64
"""Described; that there are more is told by their number."""
_EDITED = {
    "reason": Reason.JUDGE_TAMPERING.value,
    "detail": "it changed the account of what it had the framework do; the harness's own objects are not a kernel's to "
    "change; leave them alone",
}
_clock = time.perf_counter  # kernels may replace it where others would look it up


def serve(wire: Wire, scratch: str, quota: sandbox.Quota) -> None:
    """Answer requests until the judge hangs up.

    Parameters
    ----------
    wire
        To the judge.
    scratch
        The folder with the kernel's files in ``kernel/``; everything written goes below it.
    quota
        Resource limits, which apply already.
    """
    stacks.print_when_asked()
    worker = Candidate(Path(scratch), wire)
    while True:
        try:
            request, files = wire.receive_with_files()
        except WireError:
            return
        if request["do"] == "compile":
            worker.compile(request, files, wire)
            continue
        obey = {
            "prepare": worker.prepare, "load": worker.load, "call": worker.call, "again": worker.again,
            "rehearse": worker.rehearse, "time": worker.time, "show": worker.show,
            "record": worker.record, "repeat": worker.repeat,
            "built": worker.built,
        }[request["do"]]  # fmt: skip
        answer = obey(request, files)
        # Of timed runs there are thousands: what was done in the meantime is told at once, or when one is looked at.
        acts = [] if request["do"] == "time" else worker.acts()
        wire.send({"id": request["id"], "acts": acts, **answer})


class Candidate:
    """The state of a candidate process between requests.

    Parameters
    ----------
    scratch
        Its folder.
    wire
        Where acts are told at once.
    """

    def __init__(self, scratch: Path, wire: Wire) -> None:
        self._tell = wire.tell
        self.folder = scratch / "kernel"
        self.scratch = scratch
        self._stack = contextlib.ExitStack()
        self._stage: Stage | None = None
        self._guard: Guard | None = None
        self._trusted = False
        self._noticed: list[dict[str, Any]] = []
        self._edits: list[dict[str, Any]] = []
        self._inputs: tuple[object, Window] | None = None
        self._outputs: Window | None = None
        self._allocator: Allocator | None = None
        self._returned: tuple[object, ...] = ()
        self._arguments: list[Any] = []
        self._account: tuple[Observed, int] | None = None
        self._rehearsal: Rehearsal | None = None
        self._expect: Callable[[Sequence[object]], object] = lambda outputs: None
        """Told of the form of outputs that an entry is handed."""

    def acts(self) -> list[dict[str, Any]]:
        """Return what the kernel was seen doing besides computing, so far."""
        noticed = [] if self._guard is None else self._guard.acts()
        return [*noticed, *self._edits, *self._stage.acts] if self._stage is not None else noticed

    def _watch(self) -> None:
        """Begin to take note of what the kernel does: everything of ours is imported, and the platform's face is on."""
        tell = self._tell
        self._guard = Guard(self.folder, self.scratch, lambda act: tell({ACT: act}))
        self._guard.arm()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        self._watch()
        yield
        self._noticed = self.acts()

    def compile(self, request: dict[str, Any], files: list[int], wire: Wire) -> None:
        """Run the compile gate and pass its events on as they come, and what was built as soon as it is."""
        from kernelarena.platforms.toolchains.cpp.extension_text import is_extension
        from kernelarena.protocol.compile import CompileJob
        from kernelarena.protocol.compile_run import run

        job = CompileJob.model_validate(request["job"])
        folder = self.scratch / "compile"
        _lay(files, folder / built.FOLDER)

        def hand_over() -> None:
            for entry in built.collect(folder / built.FOLDER) if request["keep"] else ():
                wire.send({"built": entry})

        if job.kernel.language.is_cpp and not is_extension(job.kernel):
            from kernelarena.protocol import compile_cpp

            compile_cpp.run(job, self.folder, lambda event: wire.send({"event": event}), folder, hand_over)
            wire.send({"done": True, "acts": []})
            return
        run(job, self.folder, lambda event: wire.send({"event": event}), folder, self._watched())
        hand_over()
        wire.send({"done": True, "acts": self._noticed})

    def prepare(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Open a device, or an emulator, before anything of the kernel is read: if that fails, it is not its doing.

        What is handed over with it has been built for the kernel already.
        """
        from kernelarena.spec import Platform

        platform = Platform.model_validate(request["platform"])
        _lay(files, self.scratch / built.FOLDER)
        if "device" not in request:
            self._stage = HostStage(platform, self.scratch, self._stack, binary=True)
            return {"ready": True}
        access = DeviceAccess.model_validate(request["device"])
        self._trusted = access.trusted
        try:
            self._stage = DeviceStage(platform, self.scratch, self._stack, access)
        except (RuntimeError, OSError, MemoryError) as error:
            show(error)
            return {"unready": " ".join(str(error).split())[:500]}
        return {"ready": True}

    def built(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Return what was built in this process so far."""
        return {"built": list(built.collect(self.scratch / built.FOLDER))}

    def load(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Import the kernel's entry; on the host's processor, unless another stage was prepared."""
        from kernelarena.protocol.entry import EntryError, answering_in_place, load_entry
        from kernelarena.spec import Platform

        if self._stage is None:
            self._stage = HostStage(Platform.model_validate(request["platform"]), self.scratch, self._stack)
        if not self._trusted:
            self._watch()
        try:
            entry = (
                load_entry(self.folder, request["file"], request["function"])
                if "job" not in request
                else self._built_entry(request["job"])
            )
            self.entry = answering_in_place(entry, request.get("in_place"))
        except EntryError as error:
            show(error)
            fault = {"fault": error.fault.value, "message": str(error), "file": error.file, "line": error.line}
            return {"load-failed": fault}
        return {"loaded": True}

    def _built_entry(self, job: object) -> Callable[..., Any]:
        """Build a kernel in C++ for where it is to run, and return its entry."""
        from kernelarena.platforms.toolchains.cpp.extension_text import is_extension
        from kernelarena.platforms.toolchains.cpp.objects import Objects
        from kernelarena.protocol import cpp_entry, cpp_in_emulator, cpp_on_device
        from kernelarena.protocol.compile import CompileJob

        order = CompileJob.model_validate(job)
        venue: cpp_entry.Venue
        if isinstance(self._stage, DeviceStage):
            if is_extension(order.kernel):
                self._stage.take_default_stream()
            venue = cpp_on_device.Device(self._stage.watch)
        else:
            assert self._stage is not None
            venue = cpp_in_emulator.Emulator(order.platform, self._stage.observer)
        objects = Objects(self.scratch / built.FOLDER)
        entry = cpp_entry.load(order, self.folder, self.scratch / "compile", venue, self._stack, objects)
        if isinstance(entry, cpp_entry.PlainEntry):
            self._expect = entry.expect
        return entry

    def call(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Call the entry once; inputs and whatever it allocates lie in memory that the judge shares.

        Memory of earlier calls is let go, and unmapped when the kernel holds no tensor over it either.
        """
        assert self._stage is not None
        exchange, observer = self._stage.exchange, self._stage.observer
        self._returned = ()
        *new, outputs = files
        if new:
            self._inputs = request["inputs"], exchange.attach(new[0], _fences(request["fences"]))
        assert self._inputs is not None
        assert self._inputs[0] == request["inputs"]
        inputs = self._inputs[1]
        inputs.fetch()
        self._outputs = exchange.attach(outputs, ())
        self._outputs.fetch()
        allocator = self._allocator = Allocator(self._outputs.bytes, request["returned"], exchange.alignment)
        if new:
            # The same objects for the same addresses: whoever goes by id() then meets other values under it.
            self._arguments = [self._argument(item, inputs.bytes) for item in request["arguments"]]
        arguments = self._arguments
        self._expect(request.get("outputs", ()))
        late = self._late()
        try:
            given = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
            with observer.call(given) as observed, ArenaMode(allocator, request["poison"], observer):
                started = _clock()
                result = self._stage.run(self.entry, arguments, held=bool(request.get("held")))
                seconds = _clock() - started
            told = self._told(result, observed)
            self._account = observed, told["observed"]["launches"]
            inputs.publish()
            self._outputs.publish()
        except BaseException as error:
            return {"failed": describe(error)}
        blocks = [block.model_dump() for block in allocator.blocks]
        loads = [observed.loads(argument) for argument in given]
        tables = observed.tables[:_MOST_OUTPUTS]
        return {**told, "blocks": blocks, "seconds": seconds, "late": late, "loads": loads, "tables": tables}

    def _late(self) -> bool:
        """Whether anything was launched since the last call was answered for."""
        if self._account is None:
            return False
        observed, launches = self._account
        return observed.launches > launches

    def again(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Describe the outputs of the last call once more, after everything that could be pending had its chance."""
        gc.collect()
        assert self._stage is not None
        self._stage.settle()
        assert self._allocator is not None
        assert self._outputs is not None
        self._allocator.forget_returned()
        try:
            described = self._describe(self._returned, [is_deferred(output) for output in self._returned])
            self._outputs.publish()
        except BaseException as error:
            return {"failed": describe(error)}
        return {"outputs": described, "count": len(self._returned)}

    def rehearse(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Map the memory that timed calls take place in: sets of inputs, and room for outputs to be returned."""
        assert isinstance(self._stage, DeviceStage)
        exchange = self._stage.exchange
        *inputs, outputs = files
        windows = [
            exchange.attach(memory, _fences(place)) for memory, place in zip(inputs, request["places"], strict=True)
        ]
        places = [[self._argument(item, window.bytes) for item in request["arguments"]] for window in windows]
        self._returned, self._inputs, self._outputs = (), None, None
        self._expect(request.get("outputs", ()))
        self._rehearsal = Rehearsal(
            self._stage, self.entry, places, windows, exchange.attach(outputs, ()), request["returned"]
        )
        return {"ready": True}

    def time(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Make some timed runs; what the last calls return is kept."""
        assert self._rehearsal is not None
        assert self._stage is not None
        try:
            with self._stage.observer.call() as observed:
                runs = self._rehearsal.time(
                    request["first"], request["runs"], request["calls"], flush=request["flush"], pause=request["pause"]
                )
            seen = observed.summary(outputs_of(self._rehearsal.result(1))[:_MOST_OUTPUTS])
        except BaseException as error:
            return {"failed": describe(error)}
        return {"times": [[run.device, run.host, run.bound] for run in runs], "observed": seen}

    def record(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Record some calls, to be repeated as fast as the device can."""
        assert self._rehearsal is not None
        return {"recorded": self._rehearsal.record(request["calls"])}

    def repeat(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Repeat the recorded calls."""
        assert self._rehearsal is not None
        try:
            self._rehearsal.repeat(request["times"])
        except BaseException as error:
            return {"failed": describe(error)}
        return {"repeated": True}

    def show(self, request: dict[str, Any], files: list[int]) -> dict[str, Any]:
        """Return the outputs of one of the calls that were timed last."""
        assert isinstance(self._stage, DeviceStage)
        assert self._rehearsal is not None
        try:
            self._allocator = self._rehearsal.allocator()
            returned = outputs_of(self._rehearsal.result(request["back"]))
            deferred = [is_deferred(output) for output in returned[:_MOST_OUTPUTS]]
            described = self._describe(returned, deferred)
            self._rehearsal.publish()
            self._stage.look_at_settings()
        except BaseException as error:
            return {"failed": describe(error)}
        return {"outputs": described, "count": len(returned)}

    def _told(self, result: object, observed: Observed) -> dict[str, Any]:
        """Say what a call returned, and what was seen of it."""
        returned = outputs_of(result)
        deferred = [is_deferred(output) for output in returned[:_MOST_OUTPUTS]]  # before anything else reads them
        seen = observed.summary(returned[:_MOST_OUTPUTS])
        if not observed.intact and _EDITED not in self._edits:
            self._edits.append(_EDITED)
        return {"outputs": self._describe(returned, deferred), "count": len(returned), "observed": seen}

    def _argument(self, item: dict[str, Any], memory: torch.Tensor) -> Any:
        if "value" in item:
            return Scalar.model_validate(item).value
        tensor = tensor_at(memory, Place.model_validate(item))
        assert self._stage is not None
        entry = self._stage.observer.ledger.enter(tensor, device=True, argument=True)
        if entry is not None:
            entry.device = entry.argument = True
        return tensor

    def _describe(self, returned: tuple[object, ...], deferred: Sequence[bool]) -> list[dict[str, Any]]:
        self._returned = returned
        return [
            {"type": _class(output), "deferred": True} if late else self._describe_output(output)
            for output, late in zip(returned[:_MOST_OUTPUTS], deferred, strict=False)
        ]

    def _describe_output(self, output: object) -> dict[str, Any]:
        if not isinstance(output, torch.Tensor):
            return {"type": _class(output)}
        if output.layout is not torch.strided or output.is_quantized or output.is_nested:
            return {"type": f"tensor of layout {output.layout}"}
        output = torch.Tensor.detach(output)
        assert self._allocator is not None
        held = digest.of_elements(output)  # before it is copied: it is what the call left behind
        place = self._allocator.give_back(output)
        return {
            "dtype": dtype_name(output.dtype), "size": list(output.shape), "stride": list(output.stride()),
            "place": describe_place(place), "digest": "" if held is None else held.hex(),
        }  # fmt: skip


def _class(output: object) -> str:
    return type(output).__name__[:100]


def _lay(files: list[int], folder: Path) -> None:
    """Unpack archives of what has been built already."""
    for descriptor in files:
        with open(descriptor, "rb") as archive:
            built.lay(built.unpacked(archive.read()), folder)


def _fences(pairs: Sequence[Sequence[int]]) -> list[Fence]:
    return [(int(start), int(length)) for start, length in pairs]
