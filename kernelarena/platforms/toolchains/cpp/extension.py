"""A library built from a PyTorch extension, loaded in this process: its functions take and return torch's tensors.

It was compiled against headers of ours (``torch_names``), which keep tensors here and ask this module for everything
that is computed on them. The structures are those of ``ka_values.h``.
"""

from __future__ import annotations

import atexit
import ctypes
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

_DIMENSIONS, _ANSWERS = 16, 8
_TUPLE = 1 << 16
_MOST_TOUCHED = 4096
_NONE, _TENSOR, _INTEGER, _NUMBER, _BOOLEAN, _INTEGERS, _DTYPE, _ON_DEVICE, _TENSORS, _TEXT, _FORMAT = range(11)
_DTYPES = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6,
    torch.float64: 7, torch.bool: 11, torch.bfloat16: 15, torch.float8_e5m2: 23, torch.float8_e4m3fn: 24,
    torch.float8_e5m2fnuz: 25, torch.float8_e4m3fnuz: 26,
}  # fmt: skip
"""PyTorch's own numbers of them (``c10/core/ScalarType.h``)."""
_BY_NUMBER = {number: dtype for dtype, number in _DTYPES.items()}
_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)
_OPERATORS = {"div": operator.truediv}
_ELSEWHERE = {"gelu": torch.nn.functional, "linear": torch.nn.functional, "silu": torch.nn.functional}
"""Functions of ``at`` that Python has in another module than ``torch``."""


class _Value(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32), ("count", ctypes.c_int32), ("integer", ctypes.c_int64), ("number", ctypes.c_double),
        ("data", ctypes.c_void_p), ("name", ctypes.c_char_p),
    ]  # fmt: skip


class _Described(ctypes.Structure):
    _fields_ = [
        ("handle", ctypes.c_int64), ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32),
        ("on_device", ctypes.c_int32), ("dim", ctypes.c_int32), ("contiguous", ctypes.c_int32),
        ("size", ctypes.c_int64 * _DIMENSIONS), ("stride", ctypes.c_int64 * _DIMENSIONS),
    ]  # fmt: skip


_Ask = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.POINTER(_Value), ctypes.c_int32, ctypes.POINTER(_Value))
_Describe = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(_Described))
_Forget = ctypes.CFUNCTYPE(None, ctypes.c_int64)


class _Host(ctypes.Structure):
    _fields_ = [("ask", _Ask), ("describe", _Describe), ("forget", _Forget)]


class Place(Protocol):
    """Where an extension's functions are called."""

    def address(self, tensor: torch.Tensor) -> int:
        """Return the address of a tensor's first element, as host code is told it."""

    def on_device(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor lies on the device, or plays one that does."""

    def stream(self) -> int:
        """Return the current stream's handle."""

    def launched(self, tensors: Sequence[torch.Tensor]) -> None:
        """Note the launches since the last time; ``tensors`` are those that they can have been handed."""


@dataclass
class _Kept:
    """A tensor that the library knows by a number."""

    tensor: torch.Tensor
    holders: int = 0


class Extension:
    """The functions of one library.

    Parameters
    ----------
    library
        The loaded library.
    place
        Where they are called.
    """

    def __init__(self, library: ctypes.CDLL, place: Place) -> None:
        self._library, self._place = library, place
        self._kept: dict[int, _Kept] = {}
        self._next = 1
        self._raised: BaseException | None = None
        self._host = _Host(_Ask(self._ask), _Describe(self._describe), _Forget(self._forget))
        library.ka_extension_begin(ctypes.byref(self._host))
        library.ka_extension_name.restype = ctypes.c_char_p
        atexit.register(library.ka_extension_end)
        names = [library.ka_extension_name(at).decode() for at in range(library.ka_extension_count())]
        self.functions: dict[str, Callable[..., Any]] = {name: self._function(at) for at, name in enumerate(names)}
        """By name, as Python calls them."""

    def _function(self, at: int) -> Callable[..., Any]:
        return lambda *arguments, **named: self._call(at, arguments, named)

    def _call(self, at: int, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
        """Call a function of the library.

        Raises
        ------
        TypeError
            If it takes other arguments.
        RuntimeError
            If it throws; and whatever the framework raised within.
        """
        before, self._raised, keep = self._next, None, list[object]()
        given = [_with_name(self._value(value, keep), None) for value in arguments]
        given += [_with_name(self._value(value, keep), name) for name, value in named.items()]
        values, answers, said = (_Value * len(given))(*given), (_Value * _ANSWERS)(), ctypes.create_string_buffer(2000)
        try:
            status = self._library.ka_extension_call(
                at, values, len(given), ctypes.c_void_p(self._place.stream()), answers, said, ctypes.c_size_t(len(said))
            )
            self._tell()
            if status == -1 and self._raised is not None:
                raise self._raised
            if status < 0:
                raise (TypeError if status == -3 else RuntimeError)(said.value.decode(errors="replace"))
            made = tuple(self._plain(answer) for answer in answers[: status % _TUPLE])
        finally:
            self._library.ka_extension_forget()
            for handle in [each for each, kept in self._kept.items() if each >= before and not kept.holders]:
                del self._kept[handle]
        return made if status >= _TUPLE else made[0] if made else None

    def _tell(self) -> None:
        handles = (ctypes.c_int64 * _MOST_TOUCHED)()
        count = self._library.ka_extension_touched(handles, _MOST_TOUCHED)
        self._place.launched([self._kept[handle].tensor for handle in handles[:count]])

    def _keep(self, tensor: torch.Tensor) -> int:
        handle, self._next = self._next, self._next + 1
        self._kept[handle] = _Kept(tensor)
        return handle

    def _describe(self, handle: int, told: Any) -> None:
        kept = self._kept[handle]
        kept.holders += 1
        tensor, into = kept.tensor, told.contents
        into.handle, into.data = handle, self._place.address(tensor)
        into.dtype, into.on_device = _DTYPES.get(tensor.dtype, -1), self._place.on_device(tensor)
        into.dim, into.contiguous = tensor.dim(), tensor.is_contiguous()
        for dim, (length, step) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
            into.size[dim], into.stride[dim] = length, step

    def _forget(self, handle: int) -> None:
        kept = self._kept.get(handle)
        if kept is not None:
            kept.holders -= 1
            if kept.holders == 0:
                del self._kept[handle]

    def _ask(self, name: bytes, given: Any, count: int, answers: Any) -> int:
        """Have the framework compute something; called by the library."""
        try:
            self._tell()  # what comes after a launch in time comes after it in the account
            arguments, named = self._arguments(given[index] for index in range(count))
            made = _function(name.decode())(*arguments, **named)
            many = list(made) if isinstance(made, tuple | list) else [made]
            for index, value in enumerate(many[:_ANSWERS]):
                kind, integer, number = self._answer(value)
                answers[index].kind, answers[index].integer, answers[index].number = kind, integer, number
            return min(len(many), _ANSWERS)
        except BaseException as error:  # goes through code in C++, which knows no exception of Python's
            self._raised = error
            return -1

    def _answer(self, value: Any) -> tuple[int, int, float]:
        if isinstance(value, torch.Tensor):
            return _TENSOR, self._keep(value), 0.0
        if isinstance(value, float):
            return _NUMBER, 0, value
        return _INTEGER, int(value), 0.0

    def _arguments(self, given: Iterator[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return what the library hands over; what only Python's keywords take comes by name."""
        arguments: list[Any] = []
        named: dict[str, Any] = {}
        for value in given:
            if value.kind == _DTYPE:
                named["dtype"] = _BY_NUMBER[value.integer]
            elif value.kind == _ON_DEVICE:
                named["device"] = "cuda" if value.integer else "cpu"
            elif value.kind == _FORMAT:
                named["memory_format"] = _FORMATS[value.integer]
            else:
                arguments.append(self._plain(value))
        return arguments, named

    def _plain(self, value: Any) -> Any:
        """Return a value of the library's as one of Python's."""
        if value.kind == _TENSOR:
            return self._kept[value.integer].tensor
        if value.kind == _NUMBER:
            return float(value.number)
        if value.kind == _BOOLEAN:
            return bool(value.integer)
        if value.kind == _INTEGERS:
            return list((ctypes.c_int64 * value.count).from_address(value.data)) if value.count else []
        if value.kind == _TENSORS:
            return [self._kept[each].tensor for each in (ctypes.c_int64 * value.count).from_address(value.data)]
        if value.kind == _TEXT:
            return ctypes.string_at(value.data).decode(errors="replace")
        return None if value.kind == _NONE else int(value.integer)

    def _value(self, value: Any, keep: list[object]) -> _Value:
        """Return a value of Python's for the library; ``keep`` holds what it points to."""
        if value is None:
            return _Value(kind=_NONE)
        if isinstance(value, torch.Tensor):
            return _Value(kind=_TENSOR, integer=self._keep(value))
        if isinstance(value, bool):
            return _Value(kind=_BOOLEAN, integer=value)
        if isinstance(value, float):
            return _Value(kind=_NUMBER, number=value)
        if isinstance(value, int):
            return _Value(kind=_INTEGER, integer=value)
        if isinstance(value, torch.dtype):
            return _Value(kind=_DTYPE, integer=_DTYPES[value])
        if isinstance(value, str):
            text = ctypes.create_string_buffer(value.encode())
            keep.append(text)
            return _Value(kind=_TEXT, data=ctypes.addressof(text))
        if isinstance(value, list | tuple) and all(isinstance(each, torch.Tensor) for each in value):
            return self._list(_TENSORS, [self._keep(each) for each in value], keep)
        if isinstance(value, list | tuple) and all(isinstance(each, int) for each in value):
            return self._list(_INTEGERS, [int(each) for each in value], keep)
        raise TypeError(f"an argument of type {type(value).__name__} cannot be passed to a function in C++")

    def _list(self, kind: int, numbers: list[int], keep: list[object]) -> _Value:
        listed = (ctypes.c_int64 * max(len(numbers), 1))(*numbers)
        keep.append(listed)
        return _Value(kind=kind, count=len(numbers), data=ctypes.addressof(listed))


def load(library: Path, place: Place) -> Extension:
    """Load a library and return its functions.

    Raises
    ------
    OSError
        If it cannot be loaded, as when it calls what nobody defines.
    """
    return Extension(ctypes.CDLL(str(library)), place)


def _with_name(value: _Value, name: str | None) -> _Value:
    value.name = None if name is None else name.encode()
    return value


def _function(name: str) -> Callable[..., Any]:
    owner, _, function = name.rpartition(".")
    if owner == "operator":
        return _OPERATORS.get(function) or getattr(operator, function)
    if owner == "Tensor":
        return getattr(torch.Tensor, function)  # type: ignore[no-any-return]
    return getattr(_ELSEWHERE.get(function, torch), function)  # type: ignore[no-any-return]
