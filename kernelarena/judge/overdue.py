"""A limit to how long a task's own code may take where it runs in the judge's process.

A thread looks from time to time whether a call has taken too long, and raises an exception in it. Code that is deep in
a library's loops takes no notice before it comes back from there; after a while the process is ended instead, so that
its host is not kept busy for ever and whoever waits for it is told.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from kernelarena.judge.enclosure.population import end_below

_LOOK_S = 1.0
GRACE_S = 60.0
"""For library code to come back, once the time is up."""
EXIT_CODE = 2
"""As of other mistakes of users."""
_ARRIVAL_S = 0.5


class Overdue(BaseException):
    """The time is up. No :class:`Exception`, since code that takes its time may also catch all of those."""


@dataclass
class _Call:
    name: str
    seconds: float
    ends: float
    raised: bool = False
    """Whether an exception is on its way."""


_calls: dict[int, _Call] = {}  # by thread
_lock = threading.Lock()
_watcher: threading.Thread | None = None


@contextlib.contextmanager
def limited(seconds: float, name: str) -> Iterator[None]:
    """Raise :class:`Overdue` in what runs within when it takes too long.

    Parameters
    ----------
    seconds
        That it may take.
    name
        Whose code it is, for what is printed should the process have to be ended.
    """
    thread = threading.get_ident()
    call = _Call(name, seconds, time.monotonic() + seconds)
    _watch()
    with _lock:
        outer, _calls[thread] = _calls.get(thread), call
    try:
        yield
    except Overdue:
        call.raised = False
        raise
    finally:
        with _lock:
            del _calls[thread]
            if outer is not None:
                _calls[thread] = outer
        _let_arrive(call)


def _let_arrive(call: _Call) -> None:
    """Wait for an exception that is on its way, as it must not arrive in what comes later."""
    end = time.monotonic() + _ARRIVAL_S
    while call.raised:
        time.sleep(0.001)
        if time.monotonic() > end:  # it arrived long ago and was caught
            raise Overdue


def _watch() -> None:
    """Start the thread, if there is none: after a fork there is none any more."""
    global _watcher
    if _watcher is None or not _watcher.is_alive():
        _watcher = threading.Thread(target=_look_for_ever, name="overdue", daemon=True)
        _watcher.start()


def _look_for_ever() -> None:
    while True:
        time.sleep(_LOOK_S)
        _look(time.monotonic())


def _look(now: float) -> None:
    with _lock:
        for thread, call in _calls.items():
            if now >= call.ends + GRACE_S:
                print(f"{call.name}: still running {GRACE_S:g} s after its {call.seconds:g} s", file=sys.stderr)
                sys.stderr.flush()
                end_below(os.getpid())  # what it started would go on without this process
                os._exit(EXIT_CODE)
            if now >= call.ends and not call.raised:
                call.raised = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Overdue))
