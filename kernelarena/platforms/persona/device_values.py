"""Which values device code may use: by what they are, never by what they say that they are.

A module's name, ``__module__``, a base class or a mark on a class can be had by any object, whose operators and calls
would then run as host code within a kernel. So types are compared by identity, with Python's, torch's and those of
Triton's own modules, and functions by the code that those modules held when this one was imported: before the kernel's.

It follows what the compiler lets a global name stand for (``global_lookup`` in ``triton.compiler.code_generator``),
save that plain numbers, which it refuses, are left to it.
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import functools
import importlib
import math
import pkgutil
import sys
from collections import namedtuple
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    DynamicClassAttribute,
    EllipsisType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter, jit

from kernelarena.platforms.persona import arithmetic, narrow_floats, traffic

_REACHING = frozenset(
    {
        "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "globals", "input", "locals", "open",
        "setattr", "vars",
    }
)  # fmt: skip
"""Builtins by which Python code gets at everything else."""
_CALLING = frozenset({filter, map, memoryview, bytearray})
"""Types of Python's own that call functions, or lay hands on memory."""
_HELD = frozenset({str, bytes, int, float, complex, tuple, list, dict, set, frozenset, range, type})
"""Types of Python's own whose methods compute nothing that the compiler would not."""
_SCALARS = frozenset(
    {
        NoneType, EllipsisType, bool, int, float, complex, str, bytes, range, slice, torch.dtype,
        *(kind for kind in np.sctypeDict.values() if issubclass(kind, (np.number, np.bool_))),
    }
)  # fmt: skip
_PYTHON = frozenset(value for value in vars(builtins).values() if type(value) is type) - _CALLING
_ENUMS = frozenset(kind for kind in vars(enum).values() if isinstance(kind, enum.EnumMeta))
_ENUM_META = type(enum.Enum)
_JITTED = frozenset(
    {
        interpreter.InterpretedFunction,
        *(
            kind
            for name in ("JITFunction", "ConstexprFunction", "BoundConstexprFunction")
            if (kind := getattr(jit, name, None)) is not None
        ),
    }
)
"""What ``@triton.jit`` and its kin make; versions of Triton differ by a few."""
_OVERRIDES = frozenset({"rewrite", "run", "__call__"})
"""What of a device function's own would be called in place of its class's."""


def _device_modules() -> Iterator[ModuleType]:
    """Import what device functions may come from, and yield it with what serves the interpreter."""
    for found in pkgutil.walk_packages(tl.__path__, f"{tl.__name__}."):
        with contextlib.suppress(Exception):  # which is for another vendor's build
            importlib.import_module(found.name)
    yield from (arithmetic, narrow_floats, traffic)
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "triton" and type(module) is ModuleType:
            yield module


def _codes(value: Any, package: str) -> Iterator[CodeType]:
    """Yield the code of a function, of what it defines within, and of a class's functions."""
    if type(value) is CodeType:
        yield value
        for constant in value.co_consts:
            if type(constant) is CodeType:
                yield from _codes(constant, package)
    elif type(value) is FunctionType:
        yield from _codes(value.__code__, package)
        if (wrapped := getattr(value, "__wrapped__", None)) is not None:
            yield from _codes(wrapped, package)
    elif type(value) in _JITTED and type(value.fn) is FunctionType:
        yield from _codes(value.fn, package)
    elif type(value) in (staticmethod, classmethod):
        yield from _codes(value.__func__, package)
    elif isinstance(value, (property, DynamicClassAttribute)):
        yield from _codes(value.fget, package)
    elif isinstance(value, type) and value.__module__.partition(".")[0] == package:
        for attribute in vars(value).values():
            yield from _codes(attribute, package)


_MODULES = [*_device_modules()]
_NAMESPACES = {id(vars(module)): module for module in _MODULES}
_CODE = {
    id(code): code  # held, so that the number stays its own
    for module in (*_MODULES, enum)
    for value in [*vars(module).values()]
    for code in _codes(value, module.__name__.partition(".")[0])
}
_CLASSES = frozenset(
    value
    for module in _MODULES
    if module.__name__.partition(".")[0] == "triton"
    for value in [*vars(module).values()]
    if isinstance(value, type) and value.__module__.partition(".")[0] == "triton"
)
_VALUES = frozenset(
    kind for kind in _CLASSES if issubclass(kind, tl.core.base_value) or kind is getattr(tl.core, "condition", None)
)
_TYPES = frozenset(kind for kind in _CLASSES if issubclass(kind, (tl.dtype, tl.core.base_type, enum.Enum)))


def may_be_named(value: object) -> bool:
    """Return whether a global name of device code may stand for ``value``.

    A tensor is no device's before a launch, and what a list holds can change between two.
    """
    kind = type(value)
    return may_be_used(value) and kind is not list and (kind not in _VALUES or kind is tl.constexpr or kind is tl.tuple)


def may_be_used(value: object) -> bool:
    """Return whether device code may lay hands on a value: a number, a tensor, a type, a device function and such."""
    kind = type(value)
    if not _is_itself(kind):
        return False
    if kind in _SCALARS or kind is ModuleType or kind in _TYPES:
        return True
    if kind is tl.constexpr:
        return may_be_used(value.value)  # type: ignore[attr-defined]
    if kind is tl.tuple:
        return all(map(may_be_used, value.values))  # type: ignore[attr-defined]
    if kind in _VALUES:
        return True
    if kind is tuple or kind is list or kind is torch.Size:
        return all(map(may_be_used, value))  # type: ignore[call-overload]
    if isinstance(value, type):
        return may_be_made(value)
    if type(kind) is _ENUM_META:
        return _is_plain_enum(kind) and may_be_used(value._value_)  # type: ignore[attr-defined]
    if issubclass(kind, tl.core.base_value):
        return type(kind) is type and _is_plain_aggregate(kind)
    if issubclass(kind, tuple):
        return _is_named_tuple(kind) and all(map(may_be_used, tuple.__iter__(value)))  # type: ignore[arg-type]
    return may_be_called(value)


def may_be_called(function: Any) -> bool:
    """Return whether device code may call something: device functions, Triton's own, and Python's harmless ones."""
    kind = type(function)
    if not _is_itself(kind):
        return False
    if kind is FunctionType:
        return is_genuine(function)
    if kind in _JITTED:
        return not (_OVERRIDES & vars(function).keys())
    if kind is functools.partial:
        given = (*function.args, *function.keywords.values())
        return may_be_called(function.func) and all(map(may_be_used, given))
    if kind is MethodType:
        return may_be_called(function.__func__) and may_be_used(function.__self__)
    if kind is BuiltinFunctionType:
        owner = function.__self__
        if owner is builtins:
            return function.__name__ not in _REACHING
        return owner is math or type(owner) in _HELD
    if kind is MethodWrapperType:
        return type(function.__self__) in _HELD or type(function.__self__) in _VALUES
    return isinstance(function, type) and may_be_made(function)


def may_be_made(cls: type) -> bool:
    """Return whether device code may use a class, and call it."""
    if not _is_itself(cls):
        return False
    if cls in _PYTHON or cls in _SCALARS or cls in _CLASSES:
        return True
    if type(cls) is _ENUM_META:
        return _is_plain_enum(cls)
    return type(cls) is type and (_is_named_tuple(cls) or _is_plain_aggregate(cls))


def _is_itself(cls: type) -> bool:
    """Return whether a class equals none but itself, so that a set of classes can be asked: its own class says so."""
    return type(cls) is type or type(cls) is _ENUM_META


def is_genuine(function: FunctionType) -> bool:
    """Return whether a function is one of Triton's, or of what mends its interpreter: its code, and what it holds."""
    if id(function.__code__) not in _CODE or id(function.__globals__) not in _NAMESPACES:
        return False
    if not (function.__closure__ or function.__kwdefaults__):
        return True
    return all(
        may_be_called(held) for held in _held(function) if type(held) is FunctionType or type(held) is functools.partial
    )


def _held(function: FunctionType) -> Iterator[object]:
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # which nothing was put into
            yield cell.cell_contents


@functools.lru_cache(maxsize=256)
def _standard(fields: tuple[str, ...]) -> type:
    return namedtuple("_standard", fields)


def _is_named_tuple(cls: type) -> bool:
    """Return whether a class is what ``namedtuple`` makes, with nothing of its own added or replaced."""
    own = vars(cls)
    fields = own.get("_fields")
    if type(cls) is not type or cls.__bases__ != (tuple,) or type(fields) is not tuple or "__new__" not in own:
        return False
    new, standard = getattr(own["__new__"], "__func__", own["__new__"]), vars(_standard(fields))
    if type(new) is not FunctionType or new.__code__.co_code != standard["__new__"].__func__.__code__.co_code:
        return False
    if new.__globals__.get("_tuple_new") is not tuple.__new__:
        return False
    added = {name: value for name, value in own.items() if name not in standard and name != "__orig_bases__"}
    return (
        all(type(own.get(name)) is type(standard[name]) for name in fields)
        and all(_same_code(own.get(name), standard[name]) for name in standard if name not in ("__new__", *fields))
        and all(_is_harmless(name, value) for name, value in added.items())
    )


def _same_code(value: object, standard: object) -> bool:
    function, own = getattr(value, "__func__", value), getattr(standard, "__func__", standard)
    if type(own) is not FunctionType:
        return True
    return type(function) is FunctionType and function.__code__.co_code == own.__code__.co_code


def _is_plain_enum(cls: type) -> bool:
    return all(kind in _PYTHON or kind in _ENUMS or _adds_nothing(kind, vars(enum)) for kind in cls.__mro__)


def _is_plain_aggregate(cls: type) -> bool:
    """Return whether a class is Triton's, made of one with fields, whose constructor the compiler runs as Python."""
    new = getattr(vars(cls).get("__new__"), "__func__", None)
    if cls.__bases__ != (tl.core.base_value,) or type(new) is not FunctionType:
        return False
    return id(new.__code__) in _CODE and new.__globals__ is vars(tl.core) and _adds_nothing(cls, vars(tl.core))


def _adds_nothing(cls: type, namespace: dict[str, Any]) -> bool:
    """Return whether no operator or descriptor of a class is the kernel's own; some are of the module that made it."""
    for name, value in vars(cls).items():
        function = value.__func__ if type(value) is staticmethod or type(value) is classmethod else value
        if type(value) is property or type(value) is DynamicClassAttribute:
            function = value.fget
        its_makers = type(function) is FunctionType and function.__globals__ is namespace
        if its_makers and id(function.__code__) in _CODE:
            continue
        if function is not None and type(value) is not cls and not _is_harmless(name, value):
            return False
    return True


def _is_harmless(name: str, value: object) -> bool:
    """Return whether nothing that the kernel wrote runs when Python comes upon a class's attribute by itself."""
    kind = type(value)
    if not _is_itself(kind):
        return False
    if kind in _DATA or kind in _JITTED or kind in _ENUMS:
        return True
    if kind in (MethodDescriptorType, WrapperDescriptorType):
        return any(value.__objclass__ is plain for plain in _PYTHON)  # type: ignore[attr-defined]
    if name[:1] == "_" and name[-1:] == "_":
        if kind is BuiltinFunctionType:
            return name in ("__new__", "_new_member_") and any(value.__self__ is plain for plain in _PYTHON)  # type: ignore[attr-defined]
        return kind in (GetSetDescriptorType, MemberDescriptorType) or (name == "_member_type_" and kind is type)
    return kind in (FunctionType, staticmethod, classmethod, type)  # which are refused when they are called


_DATA = frozenset({NoneType, bool, int, float, str, bytes, tuple, list, dict, set, frozenset})
