"""The names that are watched: clocks, what a checker calls, and what the harness itself is made of.

Everything is looked up among the modules that are loaded already. Names of devices' modules are not listed: whatever
module of torch's has a ``synchronize`` is one.
"""

from __future__ import annotations

import builtins
import datetime
import gc
import json
import json.decoder
import json.encoder
import mmap
import os
import select
import selectors
import socket
import statistics
import struct
import sys
import time
from collections.abc import Iterator
from itertools import islice
from types import ModuleType

import numpy as np
import torch
import torch.testing

from kernelarena.judge.integrity.names import Names
from kernelarena.spec import Reason

_TIMER, _JUDGE = Reason.TIMER_TAMPERING, Reason.JUDGE_TAMPERING

_STATISTICS = (
    "mean", "median", "percentile", "quantile", "average", "std", "var", "nanmean", "nanmedian", "nanpercentile",
    "min", "max", "amin", "amax", "sort", "partition",
)  # fmt: skip
_COMPARISONS = ("allclose", "isclose", "array_equal", "array_equiv", "isfinite", "isnan", "frombuffer")
_ALLOCATORS = (
    "empty", "empty_like", "empty_strided", "empty_permuted", "zeros", "zeros_like", "ones", "ones_like", "full",
    "full_like", "tensor", "as_tensor", "asarray", "from_numpy", "frombuffer", "rand", "rand_like", "randn",
    "randn_like", "randint", "randint_like", "randperm", "arange", "clone",
)  # fmt: skip
_COMPARING = (
    "allclose", "equal", "isclose", "eq", "ne", "lt", "le", "gt", "ge", "isfinite", "isnan", "isinf", "all", "any",
    "abs", "sub", "max", "min", "norm",
)  # fmt: skip
_SCREEN = frozenset({"print", "input", "help", "exit", "quit", "copyright", "credits", "license", "breakpoint", "_"})
"""Builtins that programs replace for the look of their output."""
_PLUMBING = (json, json.decoder, json.encoder, socket, select, selectors, struct, mmap, os, gc)
_MARGIN = 8  # a few may have gone meanwhile
OVERRIDDEN = frozenset(
    {
        "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "zeros",
        "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "copy_", "clone",
        "detach", "fill_", "zero_", "set_", "equal", "allclose", "isclose", "eq", "ne", "isfinite", "isnan",
    }
)  # fmt: skip
"""Operators of torch that the harness allocates, copies and compares with; a kernel may define others."""


def watch() -> Names:
    """Return a snapshot of all names that a kernel must leave alone."""
    names = Names()
    for module in (time, statistics):
        names.module(module, _TIMER)
    names.module(datetime, _TIMER)
    for cls in (datetime.datetime, datetime.date, datetime.timedelta):
        names.methods(cls, _TIMER, f"datetime.{cls.__name__}")
    names.module(np, _TIMER, _STATISTICS)
    if (testing := sys.modules.get("triton.testing")) is not None:
        clocks = [name for name in vars(testing) if name.startswith("do_bench")]
        names.module(testing, _TIMER, clocks)
        names.module(testing, _JUDGE)
    for device in _device_modules():
        _device(names, device)
    names.module(torch.testing, _JUDGE)
    names.module(np, _JUDGE, _COMPARISONS)
    names.module(torch, _JUDGE, (*_ALLOCATORS, *_COMPARING, "Tensor", "Generator"))
    names.methods(torch.Tensor, _JUDGE, "torch.Tensor")
    names.methods(torch._C.TensorBase, _JUDGE, "torch.Tensor")
    for module in _PLUMBING:
        names.module(module, _JUDGE)
    names.methods(json.JSONEncoder, _JUDGE, "json.JSONEncoder")
    names.methods(json.JSONDecoder, _JUDGE, "json.JSONDecoder")
    names.methods(socket.socket, _JUDGE, "socket.socket")
    names.module(builtins, _JUDGE, [name for name in vars(builtins) if name not in _SCREEN and name[:2] != "__"])
    names.module(builtins, _JUDGE, ("__import__", "__build_class__"))
    _launches(names)
    watch_ours(names)
    _modules(names)
    names.settle()
    return names


def _device_modules() -> Iterator[ModuleType]:
    for name, module in [*sys.modules.items()]:
        parent, _, rest = name.partition(".")
        direct = parent == "torch" and rest and "." not in rest and type(module) is ModuleType
        if direct and "synchronize" in vars(module):
            yield module


def _device(names: Names, module: ModuleType) -> None:
    """Watch a device's events, streams and synchronisation, then whatever else its module does."""
    held = vars(module)
    clocks = [name for name in held if "stream" in name.lower() or "event" in name.lower() or "synchron" in name]
    names.module(module, _TIMER, [name for name in clocks if callable(held[name])])
    for name in clocks:
        value = held[name]
        if isinstance(value, type):
            names.methods(value, _TIMER, f"{module.__name__}.{name}")
    names.module(module, _JUDGE)
    memory = sys.modules.get(f"{module.__name__}.memory")
    if memory is not None:
        names.module(memory, _JUDGE)


def _launches(names: Names) -> None:
    """Watch what makes a launch of the interpreter a launch."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    if interpreter is not None and (executor := vars(interpreter).get("GridExecutor")) is not None:
        names.entry(executor, vars(executor), "__call__", ("triton.runtime.interpreter.GridExecutor.__call__", _JUDGE))


def latest(count: int) -> list[ModuleType]:
    """Return the modules that were loaded when there were ``count`` already, the last one first.

    Looking at all of them would touch thousands of objects that a forked process shares with its parent.
    """
    newer = islice(reversed(sys.modules), max(0, len(sys.modules) - count) + _MARGIN)
    return [module for name in [*newer] if type(module := sys.modules.get(name)) is ModuleType]


def unwatched(names: Names) -> Iterator[tuple[str, ModuleType]]:
    """Yield the harness's modules that are not watched yet, among those that were loaded since the last time."""
    for module in latest(names.loaded):
        name = vars(module).get("__name__")
        if isinstance(name, str) and name.partition(".")[0] == "kernelarena" and not names.has(module):
            yield name, module


_FACE_OF_CLOCKS = ".device_namespace"
"""The module whose streams and events a persona shows in place of a device's."""


def watch_ours(names: Names) -> None:
    """Watch every function, class and constant of such modules."""
    for name, module in [*unwatched(names)]:
        held = vars(module)
        reason = _TIMER if name.endswith(_FACE_OF_CLOCKS) else _JUDGE
        names.module(module, reason, [key for key in held if key[:2] != "__"])
        for value in [*held.values()]:
            if isinstance(value, type) and value.__module__ == name:
                names.methods(value, reason, f"{name}.{value.__qualname__}", closed=True)
    names.loaded = len(sys.modules)


def _modules(names: Names) -> None:
    """Watch that the modules above are what importing them gives."""
    modules = sys.modules
    watched = {"builtins", "sys", "time", "datetime", "statistics", "numpy", "torch", "torch.testing", "triton",
               "triton.testing", "signal", "ctypes"}  # fmt: skip
    watched |= {module.__name__ for module in (*_PLUMBING, *_device_modules())}
    watched |= {name for name in modules if name.partition(".")[0] == "kernelarena"}
    clocks = {"time", "datetime", "statistics"}
    for name in sorted(watched & modules.keys()):
        reason = _TIMER if name in clocks else _JUDGE
        names.entry(modules, modules, name, (f"sys.modules['{name}']", reason))
        parent, _, child = name.rpartition(".")
        if parent in modules:
            names.entry(modules[parent], vars(modules[parent]), child, (name, reason))
    names.entry(sys, vars(sys), "modules", ("sys.modules", _JUDGE))
