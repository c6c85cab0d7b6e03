"""What a function is made of, so that one whose name still holds it can be told from what it was.

A Python function is its code, its globals, its defaults and its closure; one of C is a pointer to machine code. Both
lie in fields of the object that nothing but tampering changes, so they are compared as they lie in memory: that is
quick, sees what :mod:`ctypes` writes there, and calls nothing that the kernel could have replaced.

The layout is CPython's, the same from 3.10 to 3.13 (``Include/cpython/funcobject.h``, ``methodobject.h``). Builds
without the lock have another one, and are left out.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

_WORD = ctypes.sizeof(ctypes.c_void_p)
_HEADER = object.__basicsize__
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
