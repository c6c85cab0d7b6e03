"""Processes of our own beside this one, which may touch a runtime, or hang in a driver, in its stead."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import kernelarena

_LET_GO = 2.0
"""Seconds for a killed process to end. One that is inside a driver ends when the driver lets it go, if ever."""
_RUN = (
    "import ctypes, os, signal, sys; sys.path[:] = filter(None, sys.path); "
    "ctypes.CDLL(None).prctl(1, signal.SIGKILL); "  # PR_SET_PDEATHSIG
    "os.getppid() == int(sys.argv.pop(1)) or os._exit(1); "
    "import runpy; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
"""What ``-m`` does, without the working directory, also where Python does not know ``PYTHONSAFEPATH`` (3.10); and an
end with the process that asks, also where that is interrupted before it has taken note that it started one."""


def environment() -> dict[str, str]:
    """Return an environment in which this very package is found, and nothing that lies in the working directory."""
    here = str(Path(kernelarena.__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def command(module: str, order: Mapping[str, Any]) -> list[str]:
    """Return what runs a module with an order, in JSON, as its argument."""
    return [sys.executable, "-c", _RUN, str(os.getpid()), module, json.dumps(order)]


class Question:
    """A question that a module, run by a fresh interpreter, is answering.

    Several may be under way at once. Use as a context manager: nothing stays behind when it ends.

    Parameters
    ----------
    module
        Run with the order as its argument, in JSON; the last line that it prints is its answer, a JSON object.
    order
        What it is told.
    seconds
        How long it may take, from now on.
    variables
        Its environment; :func:`environment` by default.
    """

    def __init__(
        self,
        module: str,
        order: Mapping[str, Any],
        seconds: float,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._seconds = seconds
        self._closed = False
        self._deadline = time.monotonic() + seconds
        # Files and not pipes, so that a process which cannot be ended keeps nobody waiting.
        self._said, self._complaints = (os.memfd_create(name, os.MFD_CLOEXEC) for name in ("said", "complaints"))
        self._process = subprocess.Popen(
            command(module, order),
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=self._complaints,
            start_new_session=True,
            env=environment() if variables is None else variables,
        )

    def answer(self) -> dict[str, Any]:
        """Return the answer, or ``{"problem": …}``, one line, where there is none."""
        try:
            status = self._process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return {"problem": f"no answer within {self._seconds:g} s"}
        lines = _lines(self._said)
        with contextlib.suppress(IndexError, ValueError):
            answer = json.loads(lines[-1])
            if isinstance(answer, dict):
                return answer
        last = (_lines(self._complaints) or [_ending(status)])[-1]
        return {"problem": " ".join(last.split())}

    def close(self) -> None:
        """End the process and whatever it started; harmless when repeated."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LET_GO)
        if not self._closed:
            self._closed = True
            os.close(self._said)
            os.close(self._complaints)

    def __enter__(self) -> Question:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _lines(file: int) -> list[str]:
    said = os.pread(file, os.fstat(file).st_size, 0)
    return [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]


def _ending(status: int) -> str:
    if status >= 0:
        return f"it ended with exit status {status} and said nothing"
    with contextlib.suppress(ValueError):
        return f"it was ended by {signal.Signals(-status).name}"
    return f"it was ended by signal {-status}"
