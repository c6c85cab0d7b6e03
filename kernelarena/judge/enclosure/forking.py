"""The end of a process that was forked to do one thing: it must never return into what its parent was doing."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

FAILED = 70  # EX_SOFTWARE
"""Exit code where our own code fails."""


def leave_after(body: Callable[[], int], broken: int = FAILED) -> NoReturn:
    """Do what this process was forked for, and end it.

    Parameters
    ----------
    body
        What to do; returns the exit code.
    broken
        The exit code where it raises instead; the traceback is printed.
    """
    status = broken
    try:
        status = body()
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        os._exit(status)
