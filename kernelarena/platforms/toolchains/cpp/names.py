"""Names of functions: as a binary spells them, as their author did, and where."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from typing import Any


def demangled(name: str) -> str:
    """Return ``add<float>(float*)`` for what a binary calls ``_Z3addIfEvPf``; names of C as they are."""
    demangle = _demangler()
    if demangle is None or not name.startswith("_Z"):
        return name
    status = ctypes.c_int(0)
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        return name
    said = ctypes.string_at(text).decode(errors="replace")
    _free()(text)
    return said.removeprefix("void ")


def line_of(text: str, function: str, after: str = "") -> int | None:
    """Return the line on which C++ source defines, or first names, a function.

    Parameters
    ----------
    text
        The source.
    function
        Its plain name.
    after
        What stands before it in the same declaration: ``__global__``.
    """
    before = rf"\b{re.escape(after)}\b[^;{{}}]*?" if after else ""
    match = re.search(rf"{before}\b({re.escape(function)})\s*\(", text)
    return None if match is None else text.count("\n", 0, match.start(1)) + 1


@cache
def _demangler() -> Callable[..., Any] | None:
    """Return the C++ runtime's own (Itanium C++ ABI, ``abi::__cxa_demangle``); None where it is not installed."""
    try:
        function: Any = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    return function  # type: ignore[no-any-return]


@cache
def _free() -> Callable[..., Any]:
    function: Any = ctypes.CDLL(None).free
    function.restype = None
    function.argtypes = [ctypes.c_void_p]
    return function  # type: ignore[no-any-return]
