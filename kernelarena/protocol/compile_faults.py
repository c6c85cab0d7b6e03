"""Turns what a compiler says into a reason of the closed vocabulary."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernelarena.platforms.toolchains import triton
from kernelarena.protocol.misspelt import meant
from kernelarena.spec import Reason


@dataclass(frozen=True)
class _Pattern:
    expression: re.Pattern[str]
    detail: str
    """What to tell; ``{0}`` is the whole match, further numbers are groups."""


def _pattern(expression: str, detail: str = "{0}") -> _Pattern:
    return _Pattern(re.compile(expression, re.IGNORECASE), detail)


_UNSUPPORTED = (
    _pattern(r"type (\w+) not supported in this architecture(?:\. The supported fp8 dtypes are \([^)]*\))?"),
    _pattern(r"num_ctas > 1 (?:requires|not supported)[^\n.]*"),
    _pattern(r"clc=True requires[^\n.]*"),
    _pattern(r"(?:could(?:n't| not) allocate (?:in|out)put (?:register|reg) for constraint|invalid instruction"
             r"|invalid (?:operand|constraint) [^\n]*inline asm|invalid (?:in|out)put constraint '[^\n]*' in asm"
             r"|unknown (?:register|constraint))[^\n]*",
             "inline assembly of another chip: {0}"),
    _pattern(r"module '?(triton\.language[\w.]*)'? has no attribute '?(\w+)'?",
             "this toolchain has no {1}.{2} (any more)"),
    _pattern(r"cannot import name '(\w+)' from '(triton[\w.]*)'[^\n]*", "this toolchain has no {2}.{1} (any more)"),
    _pattern(r"block pointers? (?:is|are|was|were|has been|have been) (?:removed|not supported)[^\n]*"),
    _pattern(r"warp speciali[sz]ation[^\n]*not supported[^\n]*"),
    _pattern(r"cannot select: [^\n]*", "the chip has no instruction for it: {0}"),
    _pattern(r"[^\n]*\b(?:is|are) (?:not|only) supported (?:on|by|for|in)\b[^\n]*"),
    _pattern(r"[^\n]*instruction not supported on this (?:GPU|target)[^\n]*"),
    _pattern(r"[^\n]*not supported on \.target[^\n]*"),
    _pattern(r"[^\n]*'\w+' needs target feature [^\n]*"),
    _pattern(r"[^\n]*requires (?:\.target )?sm_\d+\w* or higher[^\n]*"),
    _pattern(r"[^\n]*input_precision must be one of[^\n]*"),
)  # fmt: skip
"""Things that the chip, or this version of the toolchain, does not have; anything else is an error of the source."""
_EXHAUSTED = (
    _pattern(r"[^\n]*(?:ran out of registers|local memory [^\n]*exceeds|uses too much shared data)[^\n]*"),
    _pattern(r"out of resource: [^\n]*"),
)
_MISSING = re.compile(r"module \W*triton\.language\W* has no attribute \W*(\w+)")
_NO_MEMORY = re.compile(r"OutOfMemory|MemoryAllocation|^MemoryError$")
"""What errors are called that say so: exceptions, and codes of a runtime."""


def compile_reason(message: str, log: str = "") -> tuple[Reason, str]:
    """Return the reason and the telling part of what a compiler said.

    Parameters
    ----------
    message
        The exception's.
    log
        What the compiler's native code printed.
    """
    if (slip := _misspelt(message) or _misspelt(log)) is not None:
        return Reason.COMPILE_ERROR, slip
    for patterns, reason in ((_UNSUPPORTED, Reason.UNSUPPORTED_FEATURE), (_EXHAUSTED, Reason.RESOURCE_EXCEEDED)):
        for text in (message, log):
            for pattern in patterns:
                match = pattern.expression.search(text)
                if match is not None:
                    return reason, _line(pattern.detail.format(match[0], *match.groups()))
    return Reason.COMPILE_ERROR, _line(_telling(message, log))


def host_reason(kind: str, message: str) -> tuple[Reason, str]:
    """Return the reason and the detail for an exception of host code."""
    if (slip := _misspelt(message)) is not None:
        return Reason.COMPILE_ERROR, slip
    for pattern in _UNSUPPORTED:
        match = pattern.expression.search(message)
        if match is not None and kind in ("AttributeError", "ImportError", "ValueError", "NotImplementedError"):
            return Reason.UNSUPPORTED_FEATURE, _line(pattern.detail.format(match[0], *match.groups()))
    reason = Reason.OUT_OF_MEMORY if _NO_MEMORY.search(kind) else Reason.LAUNCH_ERROR
    return reason, f"the host code raises {kind}" + (f": {_line(message)}" if message else "")


def _misspelt(text: str) -> str | None:
    """Say what was meant by a name that the language never had, or None: of others a version may have had them."""
    match = _MISSING.search(text)
    if match is None or not (name := meant(match[1], triton.names())):
        return None
    return f"triton.language has no '{match[1]}'; did you mean '{name}'?"


def _telling(message: str, log: str) -> str:
    """Prefer a diagnostic of the compiler over an exception that only says that a pass failed."""
    if re.fullmatch(r"(?:\w+: )?(?:PassManager::run failed|failed to \w+[^\n]*)?", message.strip(), re.IGNORECASE):
        for expression in (r"error: ([^\n]+)", r"LLVM ERROR: ([^\n]+)", r"fatal error: ([^\n]+)"):
            match = re.search(expression, log)
            if match is not None:
                return match[1]
    return message or log


def _line(text: str, limit: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
