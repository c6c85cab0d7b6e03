"""More device functions for :mod:`test_device_code`: objects that say that they are a device's, and some that are.

Each ``refused_…`` would have host code compute with the numbers that the interpreter keeps in ``handle``.
"""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.jit import KernelInterface


def host(*values: Any, **_: Any) -> Any:
    return values[-1]


class Operators:
    """What each of the objects below can do."""

    __call__ = __matmul__ = __rmatmul__ = __getitem__ = __add__ = __radd__ = host


def disguised(base: type, module: str, **more: Any) -> Any:
    """Return a class that says that it comes from elsewhere, and has operators of its own."""
    members = dict.fromkeys(("__call__", "__matmul__", "__rmatmul__", "__getitem__", "__add__"), host)
    return type(base.__name__, (base,), {**members, "__module__": module, **more})


def in_a_module(name: str) -> Any:
    """Return a function that lives in a module of Triton's, by name."""
    sys.modules[name] = module = types.ModuleType(name)
    exec("def answer(*values): return values[-1]", vars(module))
    return module.answer


class Meta(type):
    __getitem__ = host


class Equal(type):
    """Has its classes found wherever one looks for ``float``."""

    def __hash__(cls) -> int:
        return hash(float)

    def __eq__(cls, other: object) -> bool:
        return True


class Pretended(Operators, metaclass=Equal):
    pass


class Indexed(metaclass=Meta):
    pass


class Mode(enum.Enum):
    FIRST = 1
    SECOND = 2


class Level(enum.IntEnum):
    LOW = 1


class Flags(enum.Flag):
    ONE = 1

    def described(self) -> str:
        return self.name or ""


class Typed(NamedTuple):
    first: int
    second: int = 2


class Adding(enum.Enum):
    FIRST = 1
    __matmul__ = host


class Calling(enum.Enum):
    FIRST = 1
    __matmul__ = __rmatmul__ = Operators


class Missing(enum.Enum):
    FIRST = 1

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        return cls.FIRST


class Looked(enum.Enum):
    FIRST = 1

    @property
    def answer(self) -> Any:
        return 1.0


Pair = namedtuple("Pair", "first second")
Replaced = namedtuple("Replaced", "first")
Replaced.__new__ = host  # type: ignore[method-assign, assignment]
Multiplied = namedtuple("Multiplied", "first")
Multiplied.__matmul__ = host  # type: ignore[attr-defined]
MULTIPLIED = Multiplied(1)
Named = disguised(Pair, "builtins")

CALLABLE = disguised(object, "triton.language.core")()
FAKE = in_a_module("triton.zz")
FAKE_OWN = in_a_module("kernelarena.platforms.persona.zz")
BORROWED = types.FunctionType(host.__code__, vars(interpreter))
KERNEL = disguised(KernelInterface, "triton.runtime.jit")()
AGGREGATE = disguised(object, "triton.language.core", __triton_aggregate__=True, __new__=host)
FLOAT = disguised(np.float32, "numpy")(1.0)
FLOATS = disguised(np.float32, "numpy", __new__=host)
NUMBER = disguised(float, "builtins")(1.0)
TENSORS = disguised(tl.tensor, "triton.language.core", __new__=host)
MODULE = disguised(types.ModuleType, "builtins")("triton.language")
STRING = disguised(str, "builtins")("x")
NAMED = Named(1, 2)
CONSTANT = tl.constexpr(Operators())
SUBCLASSED = disguised(tl.constexpr, "triton.language.core")(1)
PARTIAL = functools.partial(tl.where, Operators())
METHOD = types.MethodType(tl.zeros.fn if hasattr(tl.zeros, "fn") else tl.zeros, Operators())
TYPE = tl.dtype("fp32")
TYPE.answer = Operators()
PLAIN_MODULE = types.ModuleType("helpers")
PLAIN_MODULE.OBJECT = Operators()  # type: ignore[attr-defined]
PLAIN_MODULE.WIDTH = 4  # type: ignore[attr-defined]
PLAIN_MODULE.Mode = Mode  # type: ignore[attr-defined]
LAZY_MODULE = types.ModuleType("lazy")
LAZY_MODULE.__getattr__ = lambda name: Operators()  # type: ignore[method-assign]
PAIR = Pair(1, 2)
TYPED = Typed(1)
FACTOR = np.float64(2.0)
OBJECT = Operators()
PRETENDED = Pretended()
FIRST = Mode.FIRST


@triton.jit
def with_kinds(
    y, MODE: tl.constexpr = Mode.FIRST, DTYPE: tl.constexpr = torch.float32,
    LEVEL: tl.constexpr = Level.LOW, FLAGS: tl.constexpr = Flags.ONE,
):  # fmt: skip
    if LEVEL == 1 and FLAGS.value == LEVEL:
        tl.store(y, 2.0)
    if MODE == FIRST:
        tl.store(y, PLAIN_MODULE.WIDTH + MODE.value)
    if PLAIN_MODULE.Mode.SECOND != MODE:
        tl.store(y, 1.0)


@triton.jit
def with_tuples(y, PAIR: tl.constexpr = PAIR, TYPED: tl.constexpr = TYPED, SIZES: tl.constexpr = (1, "a", None)):
    pair = Pair(PAIR.first, TYPED.second)
    tl.store(y, pair.first + pair.second + SIZES[0])


if hasattr(triton, "aggregate"):

    @triton.aggregate
    class Fields:
        first: tl.tensor
        second: tl.tensor

        def __init__(self, first: Any, second: Any) -> None:
            self.first = first
            self.second = second

    @triton.jit
    def with_an_aggregate(y):
        x = tl.load(y)
        tl.store(y, Fields(x, x + 1.0).second)


@triton.jit
def with_chains(y, N: tl.constexpr = FACTOR):
    i = tl.arange(0, 4)
    x = tl.load(y + i, mask=(i >= 0) & (i < 4), other=0.0)
    x += N
    for step in tl.static_range(2):
        x = tl.where(1 < i < 4, x.to(tl.float32), step)
    tl.store(y + i, tl.cumsum(x, 0))


@triton.jit
def with_shapes(y):
    i = tl.arange(0, 4)
    x = tl.load(y + i).reshape(2, 2).T
    count: tl.constexpr = x.shape[0] * x.numel
    tl.store(y + i, (x * count).reshape(4).to(y.dtype.element_ty))


@triton.jit
def refused_called_object(y):
    tl.store(y, CALLABLE(1.0))


@triton.jit
def refused_fake_module(y):
    tl.store(y, FAKE(1.0))


@triton.jit
def refused_fake_module_of_ours(y):
    tl.store(y, FAKE_OWN(1.0))


@triton.jit
def refused_borrowed_globals(y):
    tl.store(y, BORROWED(1.0))


@triton.jit
def refused_kernel_subclass(y):
    tl.store(y, KERNEL(1.0))


@triton.jit
def refused_aggregate(y):
    tl.store(y, AGGREGATE(1.0))


@triton.jit
def refused_float_subclass(y):
    tl.store(y, FLOAT + 1.0)


@triton.jit
def refused_float_class(y):
    tl.store(y, FLOATS(1.0))


@triton.jit
def refused_number_subclass(y):
    tl.store(y, NUMBER + 1.0)


@triton.jit
def refused_tensor_class(y):
    tl.store(y, TENSORS(1.0))


@triton.jit
def refused_module_subclass(y):
    tl.store(y, MODULE[1.0])


@triton.jit
def refused_string_subclass(y):
    tl.store(y, STRING @ tl.load(y))


@triton.jit
def refused_named_tuple_subclass(y):
    tl.store(y, NAMED @ tl.load(y))


@triton.jit
def refused_named_tuple_class(y):
    tl.store(y, Replaced(1.0))


@triton.jit
def refused_named_tuple_with_an_operator(y):
    tl.store(y, MULTIPLIED @ tl.load(y))


@triton.jit
def refused_enumeration_with_a_class(y, E: tl.constexpr = Calling.FIRST):
    tl.store(y, E @ tl.load(y))


@triton.jit
def refused_enumeration_that_is_asked(y):
    Missing(tl.load(y))


@triton.jit
def refused_pretended_number(y):
    tl.store(y, PRETENDED @ tl.load(y))


@triton.jit
def refused_pretended_type(y):
    tl.store(y, Pretended())


@triton.jit
def refused_metaclass(y):
    tl.store(y, Indexed[1.0])


@triton.jit
def refused_constant(y):
    tl.store(y, CONSTANT.value @ tl.load(y))


@triton.jit
def refused_constant_subclass(y):
    tl.store(y, SUBCLASSED @ tl.load(y))


@triton.jit
def refused_compile_time_argument(y, E: tl.constexpr = OBJECT):
    tl.store(y, E @ tl.load(y))


@triton.jit
def refused_wrapped_argument(y, E: tl.constexpr = (1, (CONSTANT,))):
    tl.store(y, E[1][0].value[tl.load(y)])


@triton.jit
def refused_enumeration(y, E: tl.constexpr = Adding.FIRST):
    tl.store(y, E @ tl.load(y))


@triton.jit
def refused_property(y, E: tl.constexpr = Looked.FIRST):
    tl.store(y, E.answer)


@triton.jit
def refused_partial_of_triton(y):
    tl.store(y, PARTIAL(1.0, 2.0))


@triton.jit
def refused_method_of_triton(y):
    tl.store(y, METHOD(1.0))


@triton.jit
def refused_attribute_of_a_type(y):
    tl.store(y, TYPE.answer @ tl.load(y))


@triton.jit
def refused_attribute_of_a_function(y):
    tl.store(y, with_answer.answer @ tl.load(y))


@triton.jit
def with_answer(x):
    return x


with_answer.answer = OBJECT


@triton.jit
def refused_attribute_of_a_module(y):
    tl.store(y, PLAIN_MODULE.OBJECT @ tl.load(y))


@triton.jit
def refused_attribute_of_a_lazy_module(y):
    tl.store(y, LAZY_MODULE.OBJECT @ tl.load(y))


@triton.jit
def refused_attribute_by_name(y):
    tl.store(y, getattr(PLAIN_MODULE, "OBJECT") @ tl.load(y))  # noqa: B009


@triton.jit
def refused_guts_by_method(y):
    x = tl.load(y)
    x.__getattribute__("handle").data[:] = 3.0
    tl.store(y, x)


@triton.jit
def refused_import_within(y):
    from tests.platforms.persona.device_objects import OBJECT

    tl.store(y, OBJECT @ tl.load(y))


@triton.jit
def refused_replaced_rewrite(y):
    tl.store(y, rewritten_by_host(1.0))


@triton.jit
def rewritten_by_host(x):
    return x


rewritten_by_host.rewrite = lambda: host
