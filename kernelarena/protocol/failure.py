"""From an exception that a kernel's process reported to the reason of a verdict."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from kernelarena.protocol.compile_faults import host_reason
from kernelarena.spec import Location, Reason
from kernelarena.spec.base import Model


class Failure(Model):
    """An exception as plain data; a claim of the kernel's process."""

    types: Annotated[tuple[str, ...], Field(min_length=1)]
    """Class names: the exception's, then those of its causes."""
    message: str
    frames: tuple[tuple[str, int], ...]
    """File and line, innermost first."""


_OUT_OF_MEMORY = re.compile(r"can't allocate memory|out of memory|cannot allocate memory", re.IGNORECASE)
_NOT_INTERPRETED = re.compile(r"not supported in interpreter mode|inline_asm", re.IGNORECASE)


def classify_call(failure: Failure) -> tuple[Reason, str]:
    """Return reason and detail of a call that raised."""
    words = f"{failure.types[0]}: {one_line(failure.message)}"
    if "MemoryError" in failure.types or _OUT_OF_MEMORY.search(failure.message):
        return Reason.OUT_OF_MEMORY, f"the call ran out of memory ({words})"
    if _NOT_INTERPRETED.search(failure.message) or "NotImplementedError" in failure.types:
        return Reason.UNSUPPORTED_FEATURE, f"the platform does not have what the kernel uses ({words})"
    return host_reason(failure.types[0], failure.message)


def locate_failure(failure: Failure, find: Callable[[str, int], Location | None]) -> Location | None:
    """Return the innermost line of the kernel's own source, as ``find`` knows it."""
    return next((found for path, line in failure.frames if (found := find(path, line)) is not None), None)


def one_line(text: str, limit: int = 300) -> str:
    """Return ``text`` on one line, shortened in the middle when it is long."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"
