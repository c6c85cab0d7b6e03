"""Forks a process for each thing that touches a device, from one that has imported torch and touched none."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

SECONDS = 120.0
"""For one function. A first context on a slow host takes some; a hung driver takes for ever."""


class Skipped(Exception):
    """What was asked for is something that this device need not do."""


class Nursery:
    """Runs functions in processes of their own, as kernels run: forked, each with a fresh view of the devices.

    Functions and arguments are pickled, so they have to be importable. Use as a context manager; the process that the
    others are forked from starts when it is first needed.
    """

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,))
        self._process.start()
        theirs.close()

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns in a new process.

        Raises
        ------
        AssertionError
            If it raises anything, with the traceback as text; if the process ends otherwise, or hangs.
        Skipped
            If it raises that.
        """
        if self._process is None:
            self._start()
        self._ours.send((function, arguments))
        if not self._ours.poll(SECONDS):
            self.close()
            raise AssertionError(f"no answer within {SECONDS:.0f} s")
        kind, value = self._ours.recv()
        if kind == "skipped":
            raise Skipped(value)
        if kind == "failed":
            raise AssertionError(value)
        return value

    def close(self) -> None:
        """End the process, and those that it forked; harmless when repeated."""
        if self._process is None or self._process.pid is None:
            return
        with contextlib.suppress(ProcessLookupError):  # it has no group of its own yet
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self._ours.close()
        self._process = None

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _serve(wire: Connection) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: whoever started this ends it
    import torch  # noqa: F401  (what takes time, and must not have touched a device)

    while True:
        try:
            function, arguments = wire.recv()
        except EOFError:
            return
        except Exception:  # it cannot be imported here
            wire.send(("failed", traceback.format_exc()))
            continue
        wire.send(_forked(function, arguments))


def _forked(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        status = 1
        try:
            with os.fdopen(write, "wb") as answer:
                answer.write(pickle.dumps(_outcome(function, arguments)))
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        said = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not said:
        return "failed", f"its process ended with {status} and said nothing"
    outcome: tuple[str, Any] = pickle.loads(said)  # of a backend's own test
    return outcome


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", function(*arguments)
    except Skipped as skipped:
        return "skipped", str(skipped)
    except BaseException:
        return "failed", traceback.format_exc()
