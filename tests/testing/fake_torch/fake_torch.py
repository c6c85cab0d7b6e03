"""Torch devices that are not there: a device module over the host's memory, whose streams and events tell time.

Torch itself loads it (entry point group ``torch.backends``) wherever this folder is on the path, and it does something
only where ``FAKE_TORCH`` says which runtime it stands in for. What it has in common with the real ones is what a
harness can get wrong: devices are shown by environment variables and numbered anew; a process that touched one must not
be forked; streams keep their order and wait for no other; memory ends; modules lack one thing or another.

What it cannot show: work takes effect at once, whichever stream it is on, and takes the time that it takes the host;
only waiting and marks know when the device would have done it.
"""

import contextlib
import itertools
import json
import os
import sys
import time
import types
import weakref

import torch
from torch.overrides import TorchFunctionMode

VARIABLE = "FAKE_TORCH"
"""JSON: ``kind``, ``built_for`` (the key of ``torch.version``), ``layers`` of variables, ``lacks`` (names that the
module does not have; ``float64``, where the chip has none), and ``devices``: ``name``, ``identifier``, ``memory`` and
the fields of their properties."""
_CLOCK = 1e9


def install():
    """Take the place of a module that torch itself brings."""
    told = _told()
    if told.get("built_for"):
        setattr(torch.version, told["built_for"], "1.0")
        setattr(torch, told["kind"], _Module(told, getattr(torch, told["kind"])))
        _OnHost(getattr(torch, told["kind"])).__enter__()


def plug_in(kind):
    """Add a module that torch does not know."""
    told = _told()
    assert told.get("kind") == kind, "another runtime is stood in for"
    torch.utils.rename_privateuse1_backend(kind)
    module = _Module(told, types.ModuleType("nothing"))
    torch._register_device_module(kind, module)
    torch.Generator = _Generator
    _OnHost(module).__enter__()


def _told():
    if VARIABLE in os.environ:
        return json.loads(os.environ[VARIABLE])
    try:  # processes that inherit no variables inherit the path
        from fake_torch_facts import FACTS
    except ImportError:
        return {}
    return json.loads(FACTS)


class _Module(types.ModuleType):
    """``torch.<kind>``."""

    def __init__(self, told, real):
        super().__init__(f"torch.{told['kind']}")
        sys.modules[self.__name__] = self
        self._kind = told["kind"]
        self._layers = told["layers"]
        self._every = told["devices"]
        self._real = real
        self._owner = None
        self._used = 0
        self._limit = None
        self._handles = itertools.count(4096, 16)
        self._streams = weakref.WeakValueDictionary()
        self._default = _Stream(self, 0 if self._kind != "xpu" else 1024)
        self._current = self._default
        self._lacks = set(told.get("lacks", ()))

    def __getattribute__(self, name):
        if not name.startswith("__") and name in super().__getattribute__("__dict__").get("_lacks", ()):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __getattr__(self, name):
        return getattr(self._real, name)

    def _touch(self):
        """Make a context; a child of the process that did cannot use it."""
        self._owner = self._owner or os.getpid()
        if self._owner != os.getpid():
            raise RuntimeError("cannot re-initialise the runtime in a forked process")

    def _shown(self):
        shown = self._every
        for layer in self._layers:
            given = next((os.environ[name] for name in layer if name in os.environ), None)
            if given is not None:
                words = [word.strip() for word in given.split(",")]
                shown = [found for word in words for found in [_chosen(shown, word)] if found is not None]
        return shown

    def is_available(self):
        return self.device_count() > 0

    def is_initialized(self):
        return self._owner is not None

    def device_count(self):
        return len(self._shown())

    def current_device(self):
        return 0

    def get_device_properties(self, device):
        self._touch()
        number = device if isinstance(device, int) else device.index or 0
        return types.SimpleNamespace(**{"total_memory": self._shown()[number]["memory"], **self._shown()[number]})

    def synchronize(self, device=None):
        self._touch()
        for stream in [self._default, *self._streams.values()]:
            stream.synchronize()

    def mem_get_info(self, device=None):
        self._touch()
        total = self._shown()[0]["memory"]
        return total - self._used, total

    def memory_reserved(self, device=None):
        return self._used

    def empty_cache(self):
        self._touch()

    def set_per_process_memory_fraction(self, fraction, device=None):
        self._limit = int(fraction * self._shown()[0]["memory"])

    def current_stream(self, device=None):
        return self._current

    def Stream(self, device=None):
        self._touch()
        stream = _Stream(self, next(self._handles))
        self._streams[stream._handle] = stream
        return stream

    def ExternalStream(self, handle, device=None):
        return self._streams[handle]

    def get_stream_from_external(self, handle, device=None):
        return self._streams[handle]

    @contextlib.contextmanager
    def stream(self, stream):
        before, self._current = self._current, stream
        try:
            yield
        finally:
            self._current = before

    def Event(self, enable_timing=False):
        self._touch()
        return _Event()

    def _sleep(self, ticks):
        self._current._busy_until = max(time.perf_counter(), self._current._busy_until) + ticks / _CLOCK

    @contextlib.contextmanager
    def _at_work(self):
        """Have what the host does here be what the device does, behind whatever its stream is busy with."""
        began = time.perf_counter()
        yield
        stream = self._current
        if stream._busy_until > began:
            stream._busy_until += time.perf_counter() - began

    def _take(self, tensor):
        """Count what a tensor holds for as long as it lives."""
        size = tensor.untyped_storage().nbytes()
        self._used += size
        weakref.finalize(tensor, self._give_back, size)

    def _give_back(self, size):
        self._used -= size

    def _check_room(self, size):
        if self._used + size > min(self._limit or 1 << 62, self._shown()[0]["memory"]):
            raise torch.OutOfMemoryError(f"{self._kind} out of memory: tried to allocate {size} bytes")


class _Stream:
    def __init__(self, module, handle):
        self._handle = handle
        self._busy_until = 0.0
        setattr(self, "sycl_queue" if module._kind == "xpu" else f"{module._kind}_stream", handle)

    def synchronize(self):
        time.sleep(max(0.0, self._busy_until - time.perf_counter()))

    def query(self):
        return time.perf_counter() >= self._busy_until


class _Event:
    def record(self, stream):
        self._at = max(time.perf_counter(), stream._busy_until)

    def query(self):
        return time.perf_counter() >= self._at

    def synchronize(self):
        time.sleep(max(0.0, self._at - time.perf_counter()))

    def elapsed_time(self, later):
        return (later._at - self._at) * 1e3


class _OnHost(TorchFunctionMode):
    """Puts what is asked for on such a device into the host's memory."""

    def __init__(self, module):
        super().__init__()
        self._module = module

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        asked = [value for value in (*args, *kwargs.values()) if self._means_it(value)]
        if not asked or func is torch.device:
            with self._module._at_work():
                return self._narrow(func(*args, **kwargs), any(map(_is_there, args)) and func is not torch.Tensor.cpu)
        self._module._touch()
        if (torch.device(asked[0]).index or 0) >= self._module.device_count():
            raise RuntimeError(f"{self._module._kind} error: invalid device ordinal")
        args = [torch.device("cpu") if self._means_it(value) else value for value in args]
        kwargs = {name: torch.device("cpu") if self._means_it(value) else value for name, value in kwargs.items()}
        if func is torch.empty and isinstance(args[0], int):
            self._module._check_room(args[0] * kwargs.get("dtype", torch.float32).itemsize)
        made = func(*args, **kwargs)
        if isinstance(made, torch.Tensor):
            self._module._take(made)
        return self._narrow(made, True)

    def _narrow(self, made, there):
        """Refuse float64 on a chip that has none; where a tensor lies, it and what is computed from it remember."""
        if there and isinstance(made, torch.Tensor) and "float64" in self._module._lacks:
            if made.dtype is torch.float64:
                raise RuntimeError("the device does not support double precision")
            made.lies_there = True
        return made

    def _means_it(self, value):
        return isinstance(value, torch.device | str) and str(value).split(":")[0] == self._module._kind


def _is_there(value):
    return getattr(value, "lies_there", False)


class _Generator(torch.Generator):
    """Of random numbers, on the host wherever it was asked for."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, "cpu")


def _chosen(shown, word):
    if word.isdecimal():
        return shown[int(word)] if int(word) < len(shown) else None
    return next((device for device in shown if device.get("identifier") == word), None)
