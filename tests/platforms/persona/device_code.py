"""Device functions for :mod:`test_device_code`: those named ``refused_…`` are none to the compiler, the others are.

The interpreter is chosen before Triton is imported, so this is a program of its own: ``TRITON_INTERPRET=1 python -m
tests.platforms.persona.device_code`` prints one JSON line for each, with its name and why it was refused.
"""

from __future__ import annotations

import builtins
import enum
import functools
import json
import math
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import interpreter

VALUES = [1.0, 2.0]
ARRAY = np.ones(4)
FACTOR = 2.0
LOWEST = tl.constexpr(-1.0)
DTYPE = tl.float32
Pair = namedtuple("Pair", "first second")
PAIR = Pair(1, 2)


class Kind(enum.Enum):
    PLAIN = 0


def host(value: Any) -> Any:
    return value


class Maker:
    def __call__(self, value: Any) -> Any:
        return value

    def method(self, value: Any) -> Any:
        return value


MAKER = Maker()
PARTIAL = functools.partial(host, 1.0)
TOTAL = torch.ones(4).sum


@triton.jit
def twice(x):
    return x + x


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def plain(y):
    tl.store(y, 1.0)


@triton.jit
def with_device_functions(y, F: tl.constexpr = twice):
    i = tl.arange(0, 4)
    x = twice(tl.load(y + i)) + F(i.to(DTYPE))
    tl.store(y + i, x.to(tl.float32) * tl.sum(x, axis=0) + tl.reduce(x, 0, larger))


@triton.jit
def with_python(y, N: tl.constexpr = 4):
    total = 0.0
    for step in range(len([1, 2])):
        total += float(step) * math.pi + math.sqrt(4.0) + max(step, 1) + min(step, 2)
    values = (total, int(3.7))
    tl.static_assert(isinstance(N, int))
    tl.store(y, getattr(tl, "abs")(values[0]))  # noqa: B009
    tl.static_print("n", N)


@triton.jit
def with_globals(y):
    tl.store(y, LOWEST + FACTOR + PAIR.second)


@triton.jit
def with_library_functions(y):
    i = tl.arange(0, 4)
    x = tl.load(y + i)
    tl.store(y + i, libdevice.tanh(x) + tl.math.exp(x) + tl.cdiv(4, 2) + triton.cdiv(5, 2) + tl.sigmoid(x))


@triton.jit
def with_an_annotation(y):
    x: tl.float32 = 1.0
    tl.store(y, x)


@triton.jit
def refused_python_function(y):
    tl.store(y, host(1.0))


@triton.jit
def refused_array_function(y):
    tl.store(y, np.sum(1.0))


@triton.jit
def refused_framework_function(y):
    tl.store(y, torch.sum(torch.ones(4)).item())


@triton.jit
def refused_by_another_name(y):
    f = getattr(np, "su" + "m")
    tl.store(y, f(1.0))


@triton.jit
def refused_argument(y, F: tl.constexpr = host):
    tl.store(y, F(1.0))


@triton.jit
def refused_partial(y, F: tl.constexpr = PARTIAL):
    tl.store(y, F())


@triton.jit
def refused_object(y, F: tl.constexpr = MAKER):
    tl.store(y, F(1.0))


@triton.jit
def refused_method(y, F: tl.constexpr = MAKER.method):
    tl.store(y, F(1.0))


@triton.jit
def refused_class(y, F: tl.constexpr = Maker):
    F()
    tl.store(y, 1.0)


@triton.jit
def refused_tensor_method(y, F: tl.constexpr = TOTAL):
    tl.store(y, F().item())


@triton.jit
def refused_list(y):
    tl.store(y, VALUES[0])


@triton.jit
def refused_array(y):
    tl.store(y, ARRAY[0])


@triton.jit
def refused_file(y):
    open("/dev/null").close()
    tl.store(y, 1.0)


@triton.jit
def refused_import(y):
    tl.store(y, builtins.__import__("numpy").sum(1.0))


@triton.jit
def refused_guts(y):
    x = tl.load(y)
    x.handle.data[:] = 3.0
    tl.store(y, x)


@triton.jit
def refused_guts_by_name(y):
    x = tl.load(y)
    getattr(x, "han" + "dle").data[:] = 3.0
    tl.store(y, x)


@triton.jit
def combined_by_host(a, b):
    return host(a)


@triton.jit
def refused_combination(y, F: tl.constexpr = combined_by_host):
    tl.store(y, tl.reduce(tl.arange(0, 4), 0, F))


@triton.jit
def refused_in_an_inner_function(y):
    tl.store(y, calls_host(1.0))


@triton.jit
def calls_host(x):
    return host(x)


def refused_host_function(y: Any) -> None:
    y.fill_(1.0)


def launches() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each function's name and its launch."""
    from tests.platforms.persona import device_objects

    for name, value in [*globals().items(), *vars(device_objects).items()]:
        if isinstance(value, interpreter.InterpretedFunction) and "y" in value.arg_names:
            yield name, value[(1,)]
    yield "refused_host_function", interpreter.GridExecutor(refused_host_function, ["y"], (1,))


def main() -> None:
    """Launch all of them under the face of the interpreter."""
    from kernelarena.platforms.persona.arithmetic import mended_arithmetic
    from kernelarena.platforms.persona.device_code import Refused
    from kernelarena.platforms.persona.ledger import Ledger
    from kernelarena.platforms.persona.observer import Observer
    from kernelarena.platforms.persona.provenance import Provenance
    from kernelarena.platforms.persona.source import chain
    from kernelarena.platforms.persona.triton_face import interpreter_face

    ledger = Ledger()
    observer = Observer(ledger, real=True, provenance=Provenance(ledger))
    with interpreter_face(observer), mended_arithmetic():
        for name, launch in launches():
            why = None
            try:
                launch(torch.zeros(4))
            except Exception as error:
                refusals = [link for link in chain(error) if isinstance(link, Refused)]
                if not refusals:
                    raise
                why = str(refusals[0])
            print(json.dumps({"name": name, "why": why}), flush=True)


if __name__ == "__main__":
    main()
