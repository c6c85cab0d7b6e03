"""Finds the line of a kernel's own source that an object or an error belongs to."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Place = tuple[str, int]
"""A file relative to the kernel's folder, and a line."""


def place_of(function: Any, folder: Path) -> tuple[str | None, int | None]:
    """Return where a device function is defined, or (None, None) where that is not in ``folder``."""
    code = getattr(function.fn, "__code__", None)
    file = relative(getattr(code, "co_filename", ""), folder)
    return (None, None) if file is None else (file, _first_line(function))


def line_of(error: BaseException, folder: Path) -> Place | None:
    """Return the innermost line in ``folder`` that an error passed through, in device code or else in host code."""
    found = None
    for link in chain(error):
        found = _device_line(link, folder) or found
    if found is not None:
        return found
    for link in reversed(list(chain(error))):
        if isinstance(link, SyntaxError) and link.filename and link.lineno:
            file = relative(link.filename, folder)
            if file is not None:
                return file, link.lineno
        for frame in reversed(traceback.extract_tb(link.__traceback__)):
            file = relative(frame.filename, folder)
            if file is not None and frame.lineno:
                return file, frame.lineno
    return None


def relative(file: str, folder: Path) -> str | None:
    """Return ``file`` relative to ``folder``, or None if it lies elsewhere."""
    try:
        return Path(file).resolve().relative_to(folder.resolve()).as_posix()
    except (ValueError, OSError):
        return None


def _raised_from(error: BaseException) -> BaseException | None:
    """Return what a traceback shows an error to come from."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def chain(
    error: BaseException, after: Callable[[BaseException], BaseException | None] = _raised_from
) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, outermost first; not for ever, since one may be its own cause."""
    seen: BaseException | None = error
    for _ in range(20):
        if seen is None:
            return
        yield seen
        seen = after(seen)


def _device_line(error: BaseException, folder: Path) -> Place | None:
    """Triton's errors carry a node of the syntax tree, whose lines count from the function's ``def``."""
    line = getattr(getattr(error, "node", None), "lineno", None)
    source = getattr(error, "src", None)
    if line is None or not isinstance(source, str):
        return None
    for function in _device_functions():
        if function.src == source:
            file, first = place_of(function, folder)
            if file is not None and first is not None:
                return file, first + line - 1
    return None


def _device_functions() -> Iterator[Any]:
    from triton.runtime.jit import JITFunction

    return (thing for thing in gc.get_objects() if isinstance(thing, JITFunction))


def _first_line(function: Any) -> int:
    """Return the line of ``def``, below the decorators."""
    start: int = function.starting_line_number
    raw = function.raw_src
    lines = raw if isinstance(raw, list) else str(raw).splitlines()
    for index, text in enumerate(lines):
        if text.lstrip().startswith("def "):
            return start + index
    return start
