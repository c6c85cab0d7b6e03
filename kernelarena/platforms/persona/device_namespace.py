"""What ``torch.cuda`` and ``torch.accelerator`` answer on a pretended device.

Streams and events order nothing, because nothing runs asynchronously; they only have to look right.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernelarena.platforms.persona.facts import PersonaFacts

_MILLISECONDS = 1.0  # what an event pair measures: a constant, so that whatever depends on it is the same every time


class DeviceProperties:
    """The object that ``torch.cuda.get_device_properties`` returns."""

    def __init__(self, values: dict[str, object]) -> None:
        self.__dict__.update(values)

    def __repr__(self) -> str:
        return f"_CudaDeviceProperties({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Stream:
    """A stream that everything on it has already left."""

    _handles = itertools.count(1)

    def __init__(self, device: object = None, priority: int = 0, stream_ptr: int | None = None, **_: object) -> None:
        self.cuda_stream = next(self._handles) if stream_ptr is None else stream_ptr
        self.stream_id = self.cuda_stream
        self.device = torch.device("cuda", 0)
        self.device_index = 0
        self.priority = priority

    def wait_stream(self, stream: object) -> None:
        """Wait for nothing."""

    def wait_event(self, event: object) -> None:
        """Wait for nothing."""

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event that has happened."""
        return Event() if event is None else event

    def synchronize(self) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """Say that all work is done."""
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class ExternalStream(Stream):
    """A stream known by its handle."""

    def __init__(self, stream_ptr: int, device: object = None, **_: object) -> None:
        super().__init__(device, stream_ptr=stream_ptr)


class Event:
    """An event that has happened."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: object
    ) -> None:
        self.cuda_event = 1
        self.device = torch.device("cuda", 0)

    def record(self, stream: object = None) -> None:
        """Record nothing."""

    def wait(self, stream: object = None) -> None:
        """Wait for nothing."""

    def synchronize(self) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """Say that it has happened."""
        return True

    def elapsed_time(self, end: Event) -> float:
        """Return a constant number of milliseconds."""
        return _MILLISECONDS


class CUDAGraph:
    """A graph that captures and replays nothing: launches are recorded while host code makes them."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def capture_begin(self, *_: object, **__: object) -> None:
        """Capture nothing."""

    def capture_end(self) -> None:
        """Capture nothing."""

    def replay(self) -> None:
        """Replay nothing."""

    def reset(self) -> None:
        """Forget nothing."""

    def pool(self) -> tuple[int, int]:
        """Return the handle of a memory pool."""
        return (0, 0)


class NoGraph:
    """A graph where launches really run: what one replays would be nothing, and its outputs those of another call."""

    def __init__(self, *_: object, **__: object) -> None:
        raise NotImplementedError("graphs of launches are not supported in interpreter mode")


class _Scope:
    """Stands in for ``torch.cuda.device``, ``device_of``, ``StreamContext`` and ``graph``: enters nothing."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __enter__(self) -> _Scope:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


@contextlib.contextmanager
def _nothing(*_: object, **__: object) -> Iterator[None]:
    yield


def cuda_namespace(facts: PersonaFacts) -> dict[str, object]:
    """Return the attributes of ``torch.cuda`` to replace, by name."""
    properties = DeviceProperties(facts.properties)
    default = Stream(stream_ptr=0)

    def one_device(device: object) -> None:
        index = device.index if isinstance(device, torch.device) else device
        if isinstance(index, str):
            index = torch.device(index).index
        if isinstance(index, int) and index not in (-1, 0):
            raise RuntimeError("CUDA error: invalid device ordinal")

    def of_device(value: Any) -> Callable[..., Any]:
        def answer(device: object = None, *_: object, **__: object) -> Any:
            one_device(device)
            return value

        return answer

    def answer(value: Any) -> Callable[..., Any]:
        return lambda *_, **__: value

    def seed(value: int) -> None:  # torch.manual_seed itself comes by here
        generator.manual_seed(int(value))

    generator = torch.default_generator
    nothing = answer(None)
    on_bfloat16 = facts.hip_version is not None or facts.capability >= (8, 0)
    return {
        "is_available": answer(True), "is_initialized": answer(True), "init": nothing, "_lazy_init": nothing,
        "_is_compiled": answer(True), "_is_in_bad_fork": answer(False), "device_count": answer(1),
        "current_device": answer(0), "set_device": lambda device: one_device(device),
        "_exchange_device": answer(0), "_maybe_exchange_device": answer(0),
        "get_device_name": of_device(facts.device_name), "get_device_capability": of_device(facts.capability),
        "get_device_properties": of_device(properties), "_get_device_properties": of_device(properties),
        "get_arch_list": answer(list(facts.arch_list)), "get_gencode_flags": answer(""),
        "can_device_access_peer": answer(False), "is_bf16_supported": answer(on_bfloat16),
        "is_tf32_supported": answer(facts.cuda_version is not None and facts.capability >= (8, 0)),
        "synchronize": nothing, "current_stream": answer(default), "default_stream": answer(default),
        "set_stream": nothing, "stream": _Scope, "StreamContext": _Scope, "Stream": Stream, "Event": Event,
        "ExternalStream": ExternalStream, "device": _Scope, "device_of": _Scope, "_DeviceGuard": _Scope,
        "graph": _Scope, "CUDAGraph": CUDAGraph, "is_current_stream_capturing": answer(False),
        "graph_pool_handle": answer((0, 0)), "make_graphed_callables": lambda callables, *_, **__: callables,
        "mem_get_info": of_device((facts.memory, facts.memory)), "memory_allocated": answer(0),
        "max_memory_allocated": answer(0), "memory_reserved": answer(0), "max_memory_reserved": answer(0),
        "memory_stats": answer({}), "memory_summary": answer(""), "memory_snapshot": answer([]),
        "reset_peak_memory_stats": nothing, "reset_accumulated_memory_stats": nothing,
        "reset_max_memory_allocated": nothing, "set_per_process_memory_fraction": nothing,
        "empty_cache": nothing, "ipc_collect": nothing, "manual_seed": seed,
        "manual_seed_all": seed, "seed": generator.seed,
        "seed_all": generator.seed,
        "initial_seed": generator.initial_seed, "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state_all": lambda states: torch.set_rng_state(states[0]),
        "default_generators": (torch.default_generator,), "utilization": answer(0), "temperature": answer(40),
        "power_draw": answer(0), "clock_rate": answer(1500), "get_sync_debug_mode": answer(0),
        "set_sync_debug_mode": nothing,
    }  # fmt: skip


def accelerator_namespace() -> dict[str, object]:
    """Return the attributes of ``torch.accelerator`` to replace, by name."""
    device = torch.device("cuda")
    default = Stream(stream_ptr=0)
    return {
        "is_available": lambda: True, "device_count": lambda: 1,
        "current_accelerator": lambda check_available=False: device, "current_device_index": lambda: 0,
        "current_device_idx": lambda: 0, "set_device_index": lambda device: None,
        "set_device_idx": lambda device: None, "synchronize": lambda device=None: None,
        "current_stream": lambda device=None: default, "set_stream": lambda stream: None,
        "device_index": _Scope, "empty_cache": lambda: None,
    }  # fmt: skip


def nvtx_namespace() -> dict[str, object]:
    """Return the attributes of ``torch.cuda.nvtx`` to replace, by name."""
    return {
        "range_push": lambda *_: 0, "range_pop": lambda *_: 0, "mark": lambda *_: None, "range": _nothing,
        "range_start": lambda *_: 0, "range_end": lambda *_: None,
    }  # fmt: skip
