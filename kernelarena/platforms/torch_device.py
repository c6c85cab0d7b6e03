"""A device that torch drives: ``torch.cuda``, ``torch.xpu``, or the module of a plug-in that is made like them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from kernelarena.platforms.pause import pause
from kernelarena.platforms.virtual_memory import Calls, DriverError, Library, Runtime

if TYPE_CHECKING:
    from kernelarena.platforms.device_memory import DeviceExchange


class TorchDevice:
    """One device of a torch device module; see :class:`~kernelarena.platforms.opened.OpenedDevice`.

    Modules differ in what they have beyond streams, events and tensors; where something is missing, each method says
    what is done instead.

    Parameters
    ----------
    kind
        What torch calls devices of this kind: ``cuda``, ``xpu``, ``npu``.
    index
        Its number in this process.
    plug_in
        The module that teaches torch this kind; empty where torch knows it.
    runtime
        The driver's virtual memory calls; None where memory has to be copied through the host's.

    Raises
    ------
    RuntimeError
        If torch cannot open it.
    """

    def __init__(self, kind: str, index: int, plug_in: str = "", runtime: Runtime | None = None) -> None:
        self._runtime = runtime
        try:
            if plug_in:
                importlib.import_module(plug_in)
            self.device = torch.device(kind, index)
            self._module: Any = torch.get_device_module(self.device)
            torch.zeros(1, device=self.device)  # makes the context, which the driver's calls rely on
            self.synchronise()
            self._pause = pause(self._module, self.device)
        except (ImportError, AssertionError, NotImplementedError) as error:  # as builds without that kind of device do
            raise RuntimeError(f"torch cannot open {kind}:{index}: {error or type(error).__name__}") from error
        self._default: Any = self._module.current_stream(self.device)
        self._streams: dict[int, Any] = {}

    def exchange(self) -> DeviceExchange | None:
        """Return how its memory is shared with another process, or None where the driver cannot do that."""
        if self._runtime is None:
            return None
        from kernelarena.platforms.device_memory import DeviceExchange

        try:
            exchange = DeviceExchange(Calls(self._runtime, self.device.index), self.device)
            memory = exchange.allocate(1)
        except (DriverError, MemoryError):
            return None
        memory.close()
        return exchange

    def synchronise(self) -> None:
        """Wait for everything that this process has the device do, and raise what became of it."""
        self._module.synchronize(self.device)

    def memory(self) -> tuple[int, int]:
        """Return the bytes of its memory that are free, and all of them.

        A module that cannot be asked what is free is asked what it took itself: other processes' share counts as free.
        """
        if hasattr(self._module, "mem_get_info"):
            free, total = self._module.mem_get_info(self.device)
            return int(free), int(total)
        total = int(self._module.get_device_properties(self.device).total_memory)
        return total - int(self._module.memory_reserved(self.device)), total

    def trim(self) -> None:
        """Give back what torch's allocator in this process keeps without using it."""
        self.synchronise()
        self._module.empty_cache()

    def limit_memory(self, size: int) -> bool:
        """Have torch's allocator in this process take no more than ``size`` bytes; return whether it can be told so."""
        limit = getattr(self._module, "set_per_process_memory_fraction", None)
        if limit is None:
            return False
        limit(min(1.0, size / self.memory()[1]), self.device)
        return True

    def stream(self) -> Any:
        """Return a new stream, which waits for no other one."""
        stream = self._module.Stream(self.device)
        self._streams[self.number(stream)] = stream
        return stream

    @contextlib.contextmanager
    def on(self, stream: Any) -> Iterator[None]:
        """Have what is launched within go to ``stream``, unless it asks for another."""
        with self._module.stream(stream):
            yield

    def number(self, stream: Any) -> int:
        """Return the runtime's handle of a stream, which is what a launcher is given."""
        # As modules name it: cuda_stream, npu_stream; that of xpu is called by what it is.
        names = (f"{self.device.type}_stream", "sycl_queue", "native_handle")
        return int(next(getattr(stream, name) for name in names if hasattr(stream, name)))

    def numbered(self, number: int) -> Any:
        """Return the stream of a handle.

        Where the module cannot make one of a foreign handle, that is one of :meth:`stream`'s or the default one.
        """
        if number in (0, self.number(self._default)):
            return self._default
        if hasattr(self._module, "ExternalStream"):
            return self._module.ExternalStream(number, self.device)
        if hasattr(self._module, "get_stream_from_external"):
            return self._module.get_stream_from_external(number, self.device)
        return self._streams.get(number, self._default)

    def settings(self) -> tuple[int, ...]:
        """Return settings of the context that a kernel has no business with; none where no driver is asked."""
        if self._runtime is None:
            return ()
        try:
            return Library(self._runtime).limits()
        except (DriverError, MemoryError):
            return ()

    def delay(self, seconds: float) -> None:
        """Keep the current stream busy for about that long."""
        self._pause(seconds)

    def marks(self) -> Any:
        """Return a mark that can be recorded on a stream, and tells the time from another one."""
        return self._module.Event(enable_timing=True)

    def scratch(self, size: int) -> torch.Tensor:
        """Return ``size`` bytes of its memory, for nothing but to be written."""
        return torch.empty(size, dtype=torch.uint8, device=self.device)

    def record(self, work: Callable[[], object], stream: Any) -> Callable[[], None] | None:
        """Record work as a graph; None where the module has none, or the work waits for the device in between."""
        make, within = getattr(self._module, "CUDAGraph", None), getattr(self._module, "graph", None)
        if make is None or within is None:
            return None
        graph = make()
        try:
            with within(graph, stream=stream):
                work()
        except Exception:  # of any kind: the work is somebody's, and so is the module
            return None
        replay: Callable[[], None] = graph.replay
        return replay
