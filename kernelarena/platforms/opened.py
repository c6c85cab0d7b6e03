"""A device that a process has opened through torch: its memory, its streams, its state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from kernelarena.platforms.device_memory import DeviceExchange
from kernelarena.platforms.virtual_memory import Calls, DriverError, Library, Runtime


class OpenedDevice:
    """One device of a runtime that torch drives as ``torch.cuda``.

    Parameters
    ----------
    runtime
        Its virtual memory calls.
    index
        Its number in this process.

    Raises
    ------
    RuntimeError
        If torch cannot open it.
    """

    def __init__(self, runtime: Runtime, index: int) -> None:
        self._runtime = runtime
        self.device = torch.device("cuda", index)
        torch.zeros(1, device=self.device)  # makes the context, which the driver's calls rely on
        self.synchronise()

    def exchange(self) -> DeviceExchange | None:
        """Return how its memory is shared with another process, or None where the driver cannot do that."""
        try:
            exchange = DeviceExchange(Calls(self._runtime, self.device.index), self.device)
            memory = exchange.allocate(1)
        except (DriverError, MemoryError):
            return None
        memory.close()
        return exchange

    def synchronise(self) -> None:
        """Wait for everything that this process has the device do, and raise what became of it."""
        torch.cuda.synchronize(self.device)

    def memory(self) -> tuple[int, int]:
        """Return the bytes of its memory that are free, and all of them."""
        free, total = torch.cuda.mem_get_info(self.device)
        return free, total

    def trim(self) -> None:
        """Give back what torch's allocator in this process keeps without using it."""
        self.synchronise()
        torch.cuda.empty_cache()

    def limit_memory(self, size: int) -> None:
        """Have torch's allocator in this process take no more than ``size`` bytes."""
        share = min(1.0, size / self.memory()[1])
        torch.cuda.set_per_process_memory_fraction(share, self.device)

    def stream(self) -> torch.cuda.Stream:
        """Return a new stream, which waits for no other one."""
        return torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def on(self, stream: torch.cuda.Stream) -> Iterator[None]:
        """Have what is launched within go to ``stream``, unless it asks for another."""
        with torch.cuda.stream(stream):
            yield

    def number(self, stream: torch.cuda.Stream) -> int:
        """Return the runtime's handle of a stream, which is what a launcher is given."""
        return int(stream.cuda_stream)

    def numbered(self, number: int) -> torch.cuda.Stream:
        """Return the stream of a handle."""
        if number == 0:
            return torch.cuda.default_stream(self.device)
        return torch.cuda.ExternalStream(number, self.device)  # type: ignore[no-untyped-call]

    def settings(self) -> tuple[int, ...]:
        """Return settings of the context that a kernel has no business with, as the driver tells them now."""
        try:
            return Library(self._runtime).limits()
        except (DriverError, MemoryError):
            return ()

    def delay(self, seconds: float) -> None:
        """Keep the current stream busy for about that long."""
        torch.cuda._sleep(int(seconds * self._ticks))  # type: ignore[no-untyped-call]

    @property
    def _ticks(self) -> float:
        properties: Any = torch.cuda.get_device_properties(self.device)
        return 1000.0 * float(getattr(properties, "clock_rate", 1_500_000))  # kHz; some builds do not say

    def marks(self) -> torch.cuda.Event:
        """Return a mark that can be recorded on a stream, and tells the time from another one."""
        return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]

    def scratch(self, size: int) -> torch.Tensor:
        """Return ``size`` bytes of its memory, for nothing but to be written."""
        return torch.empty(size, dtype=torch.uint8, device=self.device)
