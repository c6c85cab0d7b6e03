"""What functions and dictionaries consist of in memory, so that a change can be told without touching an object.

A Python function is its code, its globals, its defaults and its closure; one of C is a pointer to machine code. Both
lie in fields of the object that nothing but tampering changes, so they are compared as they lie in memory: that is
quick, sees what :mod:`ctypes` writes there, and calls nothing that the kernel could have replaced.

A dictionary is a table of pointers. As long as the table is what it was, no name in it means anything else; looking at
the objects themselves would count references, and so copy every page that a forked process shares with its parent.

The layout is CPython's, the same from 3.10 to 3.13 (``Include/cpython/funcobject.h``, ``methodobject.h``,
``dictobject.h``, ``Include/internal/pycore_dict.h``). Builds without the lock have another one, and are left out.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

_WORD = ctypes.sizeof(ctypes.c_void_p)
_HEADER = object.__basicsize__
_KEYS_HEADER = 32
"""Bytes; less than any dictionary's table, and enough to hold its size (reference count, sizes, counters)."""
_KNOWN = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def guts(function: object) -> list[tuple[Any, bytes]]:
    """Return views of the memory that makes a function what it is, each with what is there now.

    A view's ``raw`` reads the memory again. It does not keep the function alive; whoever uses it must.

    Returns
    -------
    list of (ctypes array, bytes)
        Empty where nothing can be said: of what is no function, or under an interpreter whose layout is not known.
    """
    if not _KNOWN or type(function) not in (FunctionType, BuiltinFunctionType):
        return []
    views = [(ctypes.c_char * length).from_address(start) for start, length in _fields(function)]
    return [(view, view.raw) for view in views]


def _fields(function: object) -> Iterator[tuple[int, int]]:
    """Yield address and length, in bytes, of the fields that identify a function."""
    start = id(function) + _HEADER
    if type(function) is FunctionType:
        yield start, 8 * _WORD  # globals, builtins, name, qualname, code, defaults, keyword defaults, closure
        return
    yield start, 3 * _WORD  # definition, self, module
    yield start + 4 * _WORD, _WORD  # how it is called; the list of weak references before it may grow
    definition = ctypes.c_void_p.from_address(start).value
    if definition is not None:
        yield definition, 2 * _WORD  # name, address of the code


class Table:
    """The table of a dictionary as it is now.

    Parameters
    ----------
    held
        A module's dictionary, or a class's by its proxy. Whoever makes the table keeps it alive.
    """

    def __init__(self, held: Mapping[Any, object]) -> None:
        self._views: list[Any] = []
        self._before: list[bytes] = []
        if not _KNOWN:
            return
        address = id(held)
        if type(held) is MappingProxyType:
            address = ctypes.c_void_p.from_address(address + _HEADER).value or 0
        names: dict[Any, object] = ctypes.cast(address, ctypes.py_object).value
        pointer = address + _HEADER + 2 * _WORD  # after the number of entries, and a version
        keys = ctypes.c_void_p.from_address(pointer).value or 0
        length = names.__sizeof__() - dict.__basicsize__ if type(names) is dict else 0
        if length <= _KEYS_HEADER:
            return
        # In this order: the table is only looked at while it is where it was, and as long as it was.
        spans = ((pointer, 2 * _WORD), (keys, _KEYS_HEADER), (keys + _KEYS_HEADER, length - _KEYS_HEADER))
        self._views = [(ctypes.c_char * size).from_address(start) for start, size in spans]
        self._before = [view.raw for view in self._views]
        sample = next(iter(names.values()))
        if id(sample).to_bytes(_WORD, sys.byteorder) not in self._before[2]:  # not the layout that we know
            self._views = []

    @property
    def same(self) -> bool:
        """Whether it is certain that nothing was put into the dictionary, replaced or taken out."""
        for view, before in zip(self._views, self._before, strict=False):
            if view.raw != before:
                return False
        return bool(self._views)
