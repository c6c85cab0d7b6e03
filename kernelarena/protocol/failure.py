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
    fault: str = ""
    """What an emulator calls it, where it is one that it found."""
    place: tuple[str, int] | None = None
    """File and line of the device code that did it; of the file as it was called when that was compiled."""


_OUT_OF_MEMORY = re.compile(r"can't allocate memory|out of memory|cannot allocate memory", re.IGNORECASE)
_NOT_INTERPRETED = re.compile(r"not supported in interpreter mode|inline_asm", re.IGNORECASE)
_REFUSED = "Refused"
"""What the interpreter raises of device code that the compiler would not take."""
_OF_DEVICE = (
    (re.compile(r"illegal memory access|misaligned address|invalid (?:address space|device pointer)", re.IGNORECASE),
     Reason.ILLEGAL_ACCESS, "the device reports an access to memory that is not the kernel's"),
    (re.compile(r"device-side assert", re.IGNORECASE), Reason.CRASH, "an assertion failed on the device"),
    (re.compile(r"illegal instruction|unspecified launch failure|hardware stack error|launch timed out", re.IGNORECASE),
     Reason.CRASH, "the device gave the kernel up"),
)  # fmt: skip
"""What runtimes report of work that they ended; none of them says where."""


_OF_EMULATOR = {
    "illegal-read": Reason.ILLEGAL_ACCESS,
    "illegal-write": Reason.ILLEGAL_ACCESS,
    "misaligned": Reason.ILLEGAL_ACCESS,
    "lds-out-of-bounds": Reason.ILLEGAL_ACCESS,
    "uninitialised-register": Reason.UNINITIALISED_READ,
    "uninitialised-memory": Reason.UNINITIALISED_READ,
    "lds-race": Reason.DATA_RACE,
    "divergent-barrier": Reason.DIVERGENT_BARRIER,
    "missing-wait": Reason.MISSING_WAIT,
    "endless": Reason.TIMEOUT,
    "trap": Reason.CRASH,
    "unsupported": Reason.EMULATOR_UNSUPPORTED,
}
"""What :mod:`kernelarena.platforms.emulator` finds, and what that is in a verdict."""


def classify_call(failure: Failure) -> tuple[Reason, str]:
    """Return reason and detail of a call that raised."""
    if failure.fault in _OF_EMULATOR:
        return _OF_EMULATOR[failure.fault], one_line(failure.message)
    words = f"{failure.types[0]}: {one_line(failure.message)}"
    if {"MemoryError", "OutOfMemoryError"} & set(failure.types) or _OUT_OF_MEMORY.search(failure.message):
        return Reason.OUT_OF_MEMORY, f"the call ran out of memory ({words})"
    for pattern, reason, meaning in _OF_DEVICE:
        if pattern.search(failure.message):
            return reason, f"{meaning} ({words})"
    if _REFUSED in failure.types:
        return Reason.COMPILE_ERROR, f"its device code is none that the compiler takes ({words})"
    if _NOT_INTERPRETED.search(failure.message) or "NotImplementedError" in failure.types:
        return Reason.UNSUPPORTED_FEATURE, f"the platform does not have what the kernel uses ({words})"
    return host_reason(failure.types[0], failure.message)


def locate_failure(failure: Failure, find: Callable[[str, int], Location | None]) -> Location | None:
    """Return the innermost line of the kernel's own source, as ``find`` knows it."""
    return next((found for path, line in failure.frames if (found := find(path, line)) is not None), None)


def one_line(text: str, limit: int = 300) -> str:
    """Return ``text`` on one line, shortened in the middle when it is long."""
    text = " ".join(text.encode("utf-8", "replace").decode().split())  # half a character cannot be printed
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"
