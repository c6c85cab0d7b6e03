"""Where a candidate calls the kernel on a real device."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from kernelarena.judge.copying import CopyExchange
from kernelarena.judge.memory import Exchange, Window
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.watching import watched
from kernelarena.spec import Platform, Reason
from kernelarena.spec.base import Model

if TYPE_CHECKING:
    from kernelarena.platforms.persona.observer import Observer

DELAY = 0.005
"""Seconds for which inputs are held back; the host code of a kernel that is already compiled takes less."""
_UNKNOWN = 0x7F
"""Fills inputs that are held back: huge or NaN in every float format."""
_SAMPLE = 1 << 14
"""Bytes at either end of an output that are looked at twice. Few, so that looking takes less than writing them."""
_OFF_STREAM = (
    "the output still changed after the work on the caller's stream was done: something runs on a stream of its own "
    "that the caller's does not wait for; launch on the current stream, or have it wait for the other one"
)


class DeviceAccess(Model):
    """What a candidate is told of its device."""

    environment: dict[str, str]
    """Variables that show it that device alone."""
    shared: bool
    """Whether device memory is shared, or copied through the host's."""
    memory: int
    """Bytes that the framework may allocate."""


class DeviceStage:
    """The device itself: nothing is pretended, and launches are observed.

    The entry is called with a stream of ours as the current one, on which the caller waits. Work that goes elsewhere
    and is not waited for would not be seen by a timer on that stream, so two things are done to notice it: when inputs
    are laid out at the same addresses a second time, their values arrive on the stream only after a delay, so that
    whoever does not wait for it reads nothing of use; and outputs are looked at twice, once in the order of the
    stream and once when the device is idle.

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
        self.observer: Observer = until.enter_context(watched(scratch))
        self.acts: list[dict[str, Any]] = []
        self._stream = self._device.stream()
        self._window: Window | None = None

    def run(self, entry: Callable[..., Any], arguments: Sequence[Any], inputs: Window) -> Any:
        """Call the entry on a stream of ours and wait for the device.

        Raises
        ------
        Exception
            Whatever the entry raises, and what the device reports of its work.
        """
        again, self._window = inputs is self._window, inputs
        self._device.synchronise()
        with self._device.on(self._stream):
            if again:
                self._hold_back(arguments)
            result = entry(*arguments)
            early = _samples(result)
        self._stream.synchronize()
        self._device.synchronise()
        if not all(torch.equal(before, now) for before, now in zip(early, _samples(result), strict=True)):
            self.acts.append({"reason": Reason.OFF_STREAM_WORK.value, "detail": _OFF_STREAM})
        return result

    def settle(self) -> None:
        """Wait for everything that the process has the device do."""
        self._device.synchronise()

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


def _samples(result: Any) -> list[torch.Tensor]:
    """Copy both ends of every output, on the current stream."""
    outputs = result if isinstance(result, tuple | list) else (result,)
    return [end.clone() for output in outputs for end in _ends(output)]


def _ends(output: Any) -> Iterator[torch.Tensor]:
    # Of a class of the kernel's own, looking may compute; the judge refuses those anyway.
    if type(output) is not torch.Tensor or output.layout is not torch.strided or not output.numel():
        return
    raw = _raw(output.detach())
    yield raw[:_SAMPLE]
    yield raw[-_SAMPLE:]


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bytes from a tensor's first element to its last one."""
    length = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.as_strided((length,), (1,)).view(torch.uint8)
