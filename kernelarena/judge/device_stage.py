"""Where a candidate calls the kernel on a real device."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from kernelarena.judge.arena import spread
from kernelarena.judge.copying import CopyExchange
from kernelarena.judge.memory import Exchange
from kernelarena.judge.plain import is_deferred, outputs_of
from kernelarena.judge.timed import Run, Stopwatch
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.opened import Recorder
from kernelarena.platforms.watching import Watch, watched
from kernelarena.spec import Platform, Reason
from kernelarena.spec.base import Model

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice
    from kernelarena.platforms.persona.observer import Observer

DELAY = 0.005
"""Seconds for which inputs are held back; the host code of a kernel that is already compiled takes less."""
_UNKNOWN = 0x7F
"""Fills inputs that are held back: huge or NaN in every float format."""
_SAMPLE = 1 << 14
"""Bytes at either end of an output that are looked at twice. Few, so that looking takes less than writing them."""
_OFF_STREAM = (
    "work was still going on when that on the caller's stream was done: something runs on a stream of its own that the "
    "caller's does not wait for; launch on the current stream, or have it wait for the other one"
)
_CACHES = (
    "the call changed what the device's caches keep for longer, which outlives any flush between timed calls; "
    "leave the device's settings as they are"
)


class DeviceAccess(Model):
    """What a candidate is told of its device."""

    environment: dict[str, str]
    """Variables that show it that device alone."""
    shared: bool
    """Whether device memory is shared, or copied through the host's."""
    memory: int
    """Bytes that the framework may allocate."""
    flush: int = 0
    """Bytes that must be written so that the caches hold nothing else."""
    trusted: bool = False
    """Whether what is loaded is the harness's own and goes unobserved: beneath an observer of operators torch compiles
    nothing."""


class DeviceStage:
    """The device itself: nothing is pretended, and launches are observed.

    The entry is called with a stream of ours as the current one, or the default one (see `take_default_stream`), on
    which the caller waits. Work that goes elsewhere and is not waited for would not be seen by a timer on that stream,
    so three things are done to notice it in a call whose inputs are *held back*, which is not the first of a shape: the
    values of the inputs arrive on the stream only after a delay, so that whoever does not wait for it reads nothing of
    use; launches on other streams are delayed, and those streams must be done when ours is; and outputs are looked at
    twice, once in the order of the stream and once when the device is idle.

    Parameters
    ----------
    platform
        The chip.
    scratch
        Where Triton may write.
    until
        Keeps the observer on.
    access
        Which device.
    """

    def __init__(self, platform: Platform, scratch: Path, until: contextlib.ExitStack, access: DeviceAccess) -> None:
        os.environ.update(access.environment)
        backend = backend_for(platform)
        assert backend is not None
        self._device = backend.open(0)
        self._device.limit_memory(access.memory)
        exchange = self._device.exchange() if access.shared else None
        self.exchange: Exchange = exchange or CopyExchange(self._device.device)
        self._watch = Watch() if access.trusted else until.enter_context(watched(scratch))
        self.observer: Observer = self._watch.observer
        self._settings = self._device.settings()
        self.acts: list[dict[str, Any]] = []
        self._flush = access.flush
        self._call_on(self._device.stream())

    def _call_on(self, stream: Any) -> None:
        self._stream = stream
        self._stopwatch = Stopwatch(self._device, stream, self._flush)

    def take_default_stream(self) -> None:
        """Have the default stream be the current one, as it is for whoever asks for no other.

        Code in C++ that names no stream launches there, and that is where its users wait for it.
        """
        self._call_on(self._device.numbered(0))

    @property
    def watch(self) -> Watch:
        """What is told of launches."""
        return self._watch

    def run(self, entry: Callable[..., Any], arguments: Sequence[Any], *, held: bool) -> Any:
        """Call the entry on a stream of ours and wait for the device.

        Raises
        ------
        Exception
            Whatever the entry raises, and what the device reports of its work.
        """
        self._device.synchronise()
        others = _OtherStreams(self._device, self._stream)
        with self._device.on(self._stream):
            if held:
                self._hold_back(arguments)
                self._watch.elsewhere = others.delay
            try:
                result = entry(*arguments)
            finally:
                self._watch.elsewhere = None
            early = _samples(result)
            others.mark()
        self._stream.synchronize()
        unfinished = others.busy()
        self._device.synchronise()
        if unfinished or not all(torch.equal(before, now) for before, now in zip(early, _samples(result), strict=True)):
            self._notice(Reason.OFF_STREAM_WORK, _OFF_STREAM)
        self.look_at_settings()
        return result

    def time(self, calls: Iterable[Callable[[], Any]], results: deque[Any], *, flush: bool, pause: float) -> Run:
        """Time some calls in a row; what they return goes into ``results``.

        Raises
        ------
        Exception
            Whatever the entry raises, and what the device reports of its work.
        """
        self._device.synchronise()
        others = _OtherStreams(self._device, self._stream)
        self._watch.elsewhere = others.note
        try:
            with self._device.on(self._stream):
                run = self._stopwatch.run(calls, results, flush=flush, pause=pause, enqueued=others.mark)
        finally:
            self._watch.elsewhere = None
        if others.busy():
            self._notice(Reason.OFF_STREAM_WORK, _OFF_STREAM)
        self._device.synchronise()
        return run

    def record(self, work: Callable[[], object]) -> Callable[[], None] | None:
        """Record work, to be done again without the host; None where that cannot be."""
        if not isinstance(self._device, Recorder):
            return None
        self._device.synchronise()
        return self._device.record(work, self._stream)

    def repeat(self, replay: Callable[[], None], times: int) -> None:
        """Have recorded work done so often, and wait for it."""
        with self._device.on(self._stream):
            for _ in range(times):
                replay()
        self._device.synchronise()

    def look_at_settings(self) -> None:
        """Take note of settings of the device that are not what they were before the kernel came."""
        if self._device.settings() != self._settings:
            self._notice(Reason.TIMER_TAMPERING, _CACHES)

    def settle(self) -> None:
        """Wait for everything that the process has the device do."""
        self._device.synchronise()

    def _notice(self, reason: Reason, detail: str) -> None:
        if all(act["detail"] != detail for act in self.acts):
            self.acts.append({"reason": reason.value, "detail": detail})

    def _hold_back(self, arguments: Sequence[Any]) -> None:
        """Have the values of the inputs arrive on the stream, a moment from now.

        Integers stay where they are, unless there is nothing else: a kernel that meets a wild index faults, and the
        fault would hide why.
        """
        tensors = [value for value in arguments if isinstance(value, torch.Tensor) and value.numel()]
        kept = [tensor for tensor in tensors if tensor.is_floating_point()]
        values = [_raw(tensor) for tensor in kept or tensors]
        saved = [value.clone() for value in values]
        for value in values:
            value.fill_(_UNKNOWN if kept else 0)
        self._stream.synchronize()
        self._device.delay(DELAY)
        for value, before in zip(values, saved, strict=True):
            value.copy_(before)


class _OtherStreams:
    """The streams besides the caller's that a call launches something on.

    Parameters
    ----------
    device
        The device.
    stream
        The caller's.
    """

    def __init__(self, device: OpenedDevice, stream: Any) -> None:
        self._device = device
        self._own = device.number(stream)
        self._found: dict[int, Any] = {}
        self._marks: list[Any] = []

    def note(self, number: int) -> bool:
        """Take note of a stream that something is launched on; return whether it is another one, and new."""
        new = number != self._own and number not in self._found
        if new:
            self._found[number] = self._device.numbered(number)
        return new

    def delay(self, number: int) -> None:
        """Keep a stream busy for a moment, just before something is launched on it for the first time."""
        if self.note(number):
            with self._device.on(self._found[number]):
                self._device.delay(DELAY)

    def mark(self) -> None:
        """Mark on each of them where the call's work ends."""
        self._marks = []
        for stream in self._found.values():
            mark = self._device.marks()
            mark.record(stream)
            self._marks.append(mark)

    def busy(self) -> bool:
        """Whether one of them has not come to its mark yet."""
        return not all(mark.query() for mark in self._marks)


def _samples(result: Any) -> list[torch.Tensor]:
    """Copy both ends of every output, on the current stream."""
    return [end.clone() for output in outputs_of(result) for end in _ends(output)]


def _ends(output: Any) -> Iterator[torch.Tensor]:
    # Of a class of the kernel's own, looking may compute; the judge refuses those anyway.
    if (
        not isinstance(output, torch.Tensor)
        or is_deferred(output)
        or output.layout is not torch.strided
        or not output.numel()
    ):
        return
    raw = _raw(output.detach())
    yield raw[:_SAMPLE]
    yield raw[-_SAMPLE:]


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bytes from a tensor's first element to its last one."""
    return spread(tensor).view(torch.uint8)
