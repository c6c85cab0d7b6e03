"""What runs in a zygote: it finds out how candidates can be enclosed here, imports what they need, and forks them."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
from dataclasses import replace
from typing import Any, NoReturn

from kernelarena.judge import scratch
from kernelarena.judge.enclosure import SWITCH, Isolation, Layer, bubblewrap, population, privileges, warden
from kernelarena.judge.enclosure.filesystem import SCRATCH
from kernelarena.judge.enclosure.forking import leave_after
from kernelarena.judge.enclosure.layers import substitute_allowed
from kernelarena.judge.enclosure.plan import Plan
from kernelarena.judge.enclosure.privileges import Quota
from kernelarena.judge.enclosure.probe import probe
from kernelarena.judge.ending import BROKEN_OFF
from kernelarena.judge.wire import Wire, WireError, close_all

_SHARED = "bubblewrap's is shared by the candidates of one worker"


def main(descriptor: int, about: dict[str, Any], *, wrapped: bool = False) -> None:
    """Import what candidates need, then fork one for each request until the judge hangs up.

    Parameters
    ----------
    descriptor
        Of the socket to the judge.
    about
        Device nodes, folders that are not shown, and layers that are left out.
    wrapped
        Whether this process is in bubblewrap's enclosure already.
    """
    privileges.die_with_parent()
    privileges.adopt_orphans()
    sys.path = [path for path in sys.path if path not in ("", "/")]  # the working folder: no place to import from
    os.environ[SWITCH] = about["switch"]
    plan = probe(about["devices"], about["private"])
    if wrapped:
        plan = replace(plan, isolation=_with_bubblewrap(plan.isolation))
    elif not plan.has(Layer.USER) and not plan.has(Layer.FILES) and substitute_allowed():
        _wrap(plan, descriptor, about)
    del os.environ[SWITCH]
    for stream in (sys.stdout, sys.stderr):  # candidates inherit them; what a killed one printed must not be lost
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    wire = Wire(socket.socket(fileno=descriptor))
    _preload()
    gc.collect()
    gc.freeze()  # keeps the pages of imported modules shared: a collection in a child would write to all of them
    wire.send({"ready": plan.isolation.model_dump(mode="json")})
    _Nursery(wire, plan).run()
    os._exit(0)  # without the farewells of what was imported, which take time and interest nobody


def _wrap(plan: Plan, descriptor: int, about: dict[str, Any]) -> None:
    """Start over in bubblewrap's enclosure, if there is one to be had."""
    words = bubblewrap.command(plan.view)
    if words is not None:
        os.set_inheritable(descriptor, True)
        arguments = [sys.executable, "-m", "kernelarena.judge.nursery", str(descriptor), json.dumps(about), "wrapped"]
        os.execv(words[0], [*words, *arguments])


def _with_bubblewrap(isolation: Isolation) -> Isolation:
    return Isolation(
        missing={
            layer: why if layer is Layer.SYSTEM_CALLS else _SHARED for layer, why in isolation.missing.items()
        },
        shared=True,
    )  # fmt: skip


class _Nursery:
    """Forks candidates, and reports those that ended."""

    def __init__(self, wire: Wire, plan: Plan) -> None:
        self._wire = wire
        self._plan = plan
        self._running: dict[int, str] = {}
        """The scratch folders of candidates that run, where these lie on the host."""
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(wire, selectors.EVENT_READ)
        self._waiting.register(self._woken, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until the judge hangs up."""
        while True:
            ready = [] if self._wire.pending else [key.fileobj for key, _ in self._waiting.select()]
            if self._wire.pending or self._wire in ready:
                try:
                    request, files = self._wire.receive_with_files()
                except WireError:
                    self._end_all()
                    return
                if "end" in request:
                    if request["end"] in self._running:
                        population.end_group(request["end"])
                else:
                    self._fork(request, files)
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._reap()

    def _fork(self, request: dict[str, Any], files: list[int]) -> None:
        talk, log, control = files
        folder = "" if self._plan.has(Layer.FILES) else scratch.make(self._plan.owner_outside)
        quota = Quota(**request["quota"])

        def candidate(inside: str) -> NoReturn:
            leave_after(lambda: _be_candidate(self._plan, quota, talk, log, inside))

        def enclose() -> None:
            gc.disable()
            self._leave()
            warden.run(self._plan, quota, request["files"], folder, Wire(socket.socket(fileno=control)), candidate)

        # Whom a candidate can see it must not be able to read; but a user's ids can be mapped for the readable alone.
        privileges.hide_memory(not self._plan.has(Layer.USER))
        pid = self._plan.spawn(enclose)
        privileges.hide_memory(not self._plan.has(Layer.PROC))
        close_all(files)
        self._running[pid] = folder
        self._wire.send({"forked": pid, "scratch": folder or SCRATCH})

    def _leave(self) -> None:
        """Forget, in a forked process, what is the zygote's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._waiting.close()
        self._wire.close()
        close_all([self._woken, self._wake])

    def _reap(self) -> None:
        """Report candidates that ended, and end what they left behind (it became ours when they died)."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._running:
                folder = self._running.pop(pid)
                population.end_group(pid)
                population.end_below(os.getpid(), frozenset(self._running))
                scratch.throw_away(folder)
                self._wire.send({"ended": pid, "status": status})

    def _end_all(self) -> None:
        population.end_below(os.getpid())
        for folder in self._running.values():
            scratch.throw_away(folder)


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
    from kernelarena.judge.integrity.guard import prepare
    from kernelarena.platforms.emulator.instructions import lookup
    from kernelarena.platforms.persona import capture, driver, executor, torch_face, triton_face  # noqa: F401
    from kernelarena.protocol import compile_run  # noqa: F401

    lookup("", "")  # its tables are read when they are first asked
    prepare()  # last: what names mean is known when everything is imported


def _be_candidate(plan: Plan, quota: Quota, talk: int, log: int, folder: str) -> int:
    """Be a candidate in this forked process; return what that is to end with."""
    gc.enable()
    os.setsid()
    _standard_streams(talk, log)
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR="/tmp" if plan.has(Layer.FILES) else folder, XDG_CACHE_HOME=f"{folder}/cache")
    tempfile.tempdir = None  # forget what it found before
    plan.confine(quota)
    from kernelarena.judge.candidate import serve

    try:
        serve(Wire(socket.socket(fileno=_TALK)), folder, quota)
    except WireError:
        return BROKEN_OFF
    return 0


_TALK = 3


def _standard_streams(talk: int, log: int) -> None:
    """Keep the wire and the log, and no other descriptor."""
    # Out of the way first: any of them may have a number that another is to get.
    nothing = os.open(os.devnull, os.O_RDONLY)
    nothing, talk, log = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 16) for number in (nothing, talk, log))
    for descriptor, place in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, place)
    os.dup2(talk, _TALK, inheritable=False)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > _TALK:
            with contextlib.suppress(OSError):
                os.close(int(name))


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]), wrapped="wrapped" in sys.argv[3:])
