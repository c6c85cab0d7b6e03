"""The process that candidates are forked from: it has imported torch and Triton, and touched no device.

Importing both takes seconds; forking takes milliseconds, so a kernel never pays for the imports. The zygote runs no
kernel itself and reads nothing but the judge's requests. Two kinds exist, because Triton decides at import whether its
own library is compiled or interpreted.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from kernelarena.judge import sandbox
from kernelarena.judge.wire import Wire, WireError, WireTimeout, close_all
from kernelarena.spec.base import StrEnum

START_DEADLINE = 180.0
"""Seconds for the imports, on a machine that is busy with other things."""


class Mode(StrEnum):
    """What Triton does with a kernel in the candidates of a zygote."""

    COMPILE = "compile"
    INTERPRET = "interpret"


class ZygoteLost(Exception):
    """The zygote ended or does not answer."""


class Zygote:
    """The judge's handle to a zygote process.

    Parameters
    ----------
    mode
        What its candidates will do.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._exits: dict[int, int] = {}
        self._running: set[int] = set()
        self._wire, theirs = Wire.pair()
        environment = {name: os.environ[name] for name in sandbox.KEPT_VARIABLES if name in os.environ}
        # One thread: several candidates run side by side, and a forked OpenMP pool would hang.
        environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        if mode is Mode.INTERPRET:
            environment["TRITON_INTERPRET"] = "1"
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kernelarena.judge.zygote", str(theirs.fileno())],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()], start_new_session=True, cwd="/",
            )  # fmt: skip
        try:
            self._wire.receive(time.monotonic() + START_DEADLINE)
        except (WireError, WireTimeout):
            self.close()
            raise ZygoteLost(self._last_words()) from None

    def fork(self, candidate: socket.socket, log: int, scratch: str, quota: sandbox.Quota) -> int:
        """Fork a candidate that talks on ``candidate`` and prints into the file ``log``; return its process id."""
        try:
            self._wire.send({"scratch": scratch, "quota": quota.model_dump()}, files=[candidate.fileno(), log])
            while True:
                answer = self._wire.receive(time.monotonic() + START_DEADLINE)
                if "forked" in answer:
                    self._running.add(int(answer["forked"]))
                    return int(answer["forked"])
                self._note(answer)
        except (WireError, WireTimeout):
            raise ZygoteLost(self._last_words()) from None

    def wait(self, pid: int, seconds: float = 10.0) -> int | None:
        """Return the wait status of a candidate that is ending, or None if it did not end in time."""
        deadline = time.monotonic() + seconds
        try:
            while pid not in self._exits:
                self._note(self._wire.receive(deadline))
        except (WireError, WireTimeout):
            return None
        return self._exits.pop(pid)

    def end(self, pid: int) -> None:
        """End a candidate with all that it started.

        The zygote does it, because it alone knows whether the process id still belongs to that candidate.
        """
        self._running.discard(pid)
        self._exits.pop(pid, None)
        with contextlib.suppress(WireError):
            self._wire.send({"end": pid})

    def close(self) -> None:
        """End the zygote and every process below it."""
        self._wire.close()
        sandbox.end_descendants(self._process.pid)
        self._process.kill()
        self._process.wait()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def _note(self, answer: dict[str, Any]) -> None:
        if answer.get("ended") in self._running:
            self._exits[int(answer["ended"])] = int(answer["status"])

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        self._process.kill()
        said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else f"it ended with exit code {self._process.wait()}"


def main(descriptor: int) -> None:
    """Import what candidates need, then fork one for each request until the judge hangs up."""
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    wire = Wire(socket.socket(fileno=descriptor))
    _preload()
    gc.collect()
    gc.freeze()  # keeps the pages of imported modules shared: a collection in a child would write to all of them
    wire.send({"ready": os.getpid()})

    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waiting = selectors.DefaultSelector()
    waiting.register(wire, selectors.EVENT_READ)
    waiting.register(woken, selectors.EVENT_READ)
    running: set[int] = set()
    while True:
        ready = [] if wire.pending else [key.fileobj for key, _ in waiting.select()]
        if wire.pending or wire in ready:
            try:
                request, files = wire.receive_with_files()
            except WireError:
                sandbox.end_descendants(os.getpid())
                return
            if "end" in request:
                if request["end"] in running:
                    sandbox.end_group(request["end"])
                continue
            pid = os.fork()
            if pid == 0:
                waiting.close()
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                close_all([woken, wake])
                _become_candidate(wire, request, files)
            close_all(files)
            running.add(pid)
            wire.send({"forked": pid})
        if woken in ready:
            os.read(woken, 4096)
            _reap(wire, running)


def _reap(wire: Wire, running: set[int]) -> None:
    """Report candidates that ended, and end what they left behind (it became ours when they died)."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid in running:
            running.discard(pid)
            sandbox.end_group(pid)
            sandbox.end_descendants(os.getpid(), frozenset(running))
            wire.send({"ended": pid, "status": status})


def _preload() -> None:
    import torch

    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):  # kernels in other languages need no Triton
        import triton.language.extra.libdevice
        import triton.runtime.interpreter
        import triton.testing  # noqa: F401

        from kernelarena.platforms.toolchains.triton import preload

        preload()
    from kernelarena.judge import candidate  # noqa: F401
    from kernelarena.platforms.persona import capture, driver, torch_face, triton_face  # noqa: F401
    from kernelarena.protocol import compile_run  # noqa: F401


def _become_candidate(zygote: Wire, request: dict[str, Any], files: list[int]) -> None:
    """Turn this forked process into a candidate; never returns."""
    status = 70  # EX_SOFTWARE: our own code failed before the kernel's could
    try:
        zygote.close()
        talk, log = files
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        from kernelarena.judge.candidate import serve

        serve(Wire(socket.socket(fileno=talk)), request["scratch"], sandbox.Quota(**request["quota"]))
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main(int(sys.argv[1]))
