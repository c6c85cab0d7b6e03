"""Has torch's modes see what threads do: each thread has a stack of modes of its own, and starts with none."""

from __future__ import annotations

import _thread
import contextlib
import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from kernelarena.platforms.persona.patching import Patches

_STARTERS = (
    (_thread, ("start_new_thread", "start_new", "start_joinable_thread")),
    (threading, ("_start_new_thread", "_start_joinable_thread")),
)
"""What starts threads in Python, by module; ``threading`` keeps what it took from ``_thread``."""


def enter_in_threads(patches: Patches, *modes: AbstractContextManager[object]) -> None:
    """Have every thread that Python code starts run under ``modes``, the outermost first.

    Threads that native code starts by itself stay unseen.
    """
    for module, names in _STARTERS:
        for name in names:
            if (own := getattr(module, name, None)) is not None:  # versions of Python differ
                patches.update(module, {name: _starting(own, modes)})


def _starting(own: Callable[..., Any], modes: tuple[AbstractContextManager[object], ...]) -> Callable[..., Any]:
    @functools.wraps(own)
    def start(function: Callable[..., Any], *rest: Any, **options: Any) -> Any:
        if not callable(function):
            return own(function, *rest, **options)  # which says what is wrong
        return own(functools.partial(_run, function, modes), *rest, **options)

    return start


def _run(
    function: Callable[..., Any], modes: tuple[AbstractContextManager[object], ...], *args: Any, **kwargs: Any
) -> None:
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(mode)
        function(*args, **kwargs)
