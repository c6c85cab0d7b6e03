"""Stacks that a process prints of itself, when it crashes or is asked to, and what can be read from them."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal

HEADING = "most recent call first"
"""Words of the line above every stack."""
_CUT_OFF = "\n  ...\n"  # after the hundredth call
ASKED = signal.SIGRTMIN
"""The signal that asks for it. Not one of the usual ones: LLVM takes those, once it has compiled something."""


def print_when_asked() -> None:
    """Have this process print its stack to standard error when it crashes, and whenever :func:`ask` is called."""
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(ASKED, file=2, all_threads=False)


def ask(pid: int) -> None:
    """Ask a process for its stack; nothing happens where it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, ASKED)


def last(text: str) -> list[tuple[str, int]]:
    """Return files and lines of the stack that was printed last, innermost first; none where none was printed."""
    _, heading, stack = text.rpartition(HEADING)
    return [(file, int(line)) for file, line in re.findall(r'File "([^"]+)", line (\d+)', stack)] if heading else []


def is_cut_off(text: str) -> bool:
    """Whether the stack that was printed last is deeper than what is printed of one."""
    return _CUT_OFF in text.rpartition(HEADING)[2]
