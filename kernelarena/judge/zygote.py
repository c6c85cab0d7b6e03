"""The process that candidates are forked from: it has imported torch and Triton, and touched no device.

Importing both takes seconds; forking takes milliseconds, so a kernel never pays for the imports. The zygote runs no
kernel itself and reads nothing but the judge's requests. Two kinds exist, because Triton decides at import whether its
own library is compiled or interpreted.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelarena.judge import sandbox, scratch
from kernelarena.judge.enclosure import SWITCH, Isolation, Layer, population, privileges, visible
from kernelarena.judge.enclosure.layers import switched_off
from kernelarena.judge.wire import Wire, WireError, WireTimeout
from kernelarena.spec.base import StrEnum

START_DEADLINE = 180.0
"""Seconds for the imports, on a machine that is busy with other things."""
FORK_DEADLINE = 20.0
"""Seconds for a fork, on such a machine."""
_STOPPED = 2.0
"""Seconds after which a zygote that somebody has stopped is given up."""
_SLICE = 0.5


class Mode(StrEnum):
    """What Triton does with a kernel in the candidates of a zygote."""

    COMPILE = "compile"
    INTERPRET = "interpret"


class ZygoteLost(Exception):
    """The zygote ended or does not answer, and so does another that was started in its place."""


@dataclass(frozen=True)
class Forked:
    """A candidate's first process, and where its files are."""

    pid: int
    scratch: str
    """As the candidate sees it."""


class Zygote:
    """The judge's handle to a zygote process.

    Parameters
    ----------
    mode
        What its candidates will do.
    devices
        Device nodes, and other paths of the host, that candidates need besides the interpreter's. With nodes, no limit
        is set to what they map, as long as their quota sets none.

    Raises
    ------
    ZygoteLost
        If it does not start.
    InputError
        If :data:`~kernelarena.judge.enclosure.SWITCH` names something that is no layer.
    """

    def __init__(self, mode: Mode, devices: Sequence[str] = ()) -> None:
        self.mode = mode
        self.devices = tuple(devices)
        self.isolation = Isolation()
        """Which layers its candidates have."""
        switched_off()
        self._start()

    def _start(self) -> None:
        self._ended: dict[int, int] = {}
        self._running: set[int] = set()
        self._said = os.memfd_create("zygote", os.MFD_CLOEXEC)
        self._wire, theirs = Wire.pair()
        environment = sandbox.environment()
        if self.mode is Mode.INTERPRET:
            environment["TRITON_INTERPRET"] = "1"
        about = {"devices": self.devices, "private": visible.secrets(), "switch": os.environ.get(SWITCH, "")}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kernelarena.judge.nursery", str(theirs.fileno()), json.dumps(about)],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._said,
                pass_fds=[theirs.fileno()], start_new_session=True, cwd="/",
            )  # fmt: skip
        try:
            ready = self._await("ready", START_DEADLINE)
        except (WireError, WireTimeout):
            words = self._last_words()
            self.close()
            raise ZygoteLost(words) from None
        self.isolation = Isolation.model_validate(ready["ready"])
        if not self.isolation.has(Layer.PROC):
            privileges.hide_memory()

    def fork(self, talk: socket.socket, log: int, control: socket.socket, files: Mapping[str, str],
             quota: sandbox.Quota) -> Forked:  # fmt: skip
        """Fork a candidate; where the zygote was lost, start another first.

        Parameters
        ----------
        talk
            The candidate's end of its wire.
        log
            What it prints into.
        control
            Its first process's end of the wire on which that tells how the candidate fares.
        files
            The kernel's, by their names within its folder.
        quota
            What it may use.

        Raises
        ------
        ZygoteLost
            If a new zygote does not start, or is lost as well.
        """
        request = {"files": dict(files), "quota": quota.model_dump()}
        descriptors = [talk.fileno(), log, control.fileno()]
        try:
            return self._fork(request, descriptors)
        except (WireError, WireTimeout):
            self.close()
            self._start()
        try:
            return self._fork(request, descriptors)
        except (WireError, WireTimeout):
            words = self._last_words()
            self.close()
            raise ZygoteLost(words) from None

    def _fork(self, request: dict[str, Any], descriptors: list[int]) -> Forked:
        self._wire.send(request, descriptors, time.monotonic() + FORK_DEADLINE)
        answer = self._await("forked", FORK_DEADLINE)
        forked = Forked(pid=int(answer["forked"]), scratch=answer["scratch"])
        self._running.add(forked.pid)
        return forked

    def _await(self, key: str, seconds: float) -> dict[str, Any]:
        """Return the next answer that has a key, and take note of the others; notice soon if none can come."""
        deadline = time.monotonic() + seconds
        stopped = 0.0
        while True:
            try:
                answer = self._wire.receive(min(deadline, time.monotonic() + _SLICE))
            except WireTimeout:
                stopped = stopped + _SLICE if population.state(self._process.pid) in ("T", "t") else 0.0
                if stopped >= _STOPPED or time.monotonic() >= deadline:
                    raise
                continue
            if key in answer:
                return answer
            self._note(answer)

    def wait(self, pid: int, seconds: float = 10.0) -> int | None:
        """Return the wait status of a candidate's first process, or None if it has not ended in time.

        Once it has, all that the candidate has started has ended too, and its memory is free again.
        """
        deadline = time.monotonic() + seconds
        try:
            while pid not in self._ended:
                self._note(self._wire.receive(deadline))
        except (WireError, WireTimeout):
            return None
        return self._ended.pop(pid)

    def end(self, pid: int) -> None:
        """End a candidate with all that it started.

        The zygote does it, because it alone knows whether the process id still belongs to that candidate.
        """
        with contextlib.suppress(WireError, WireTimeout):
            self._wire.send({"end": pid}, deadline=time.monotonic() + _SLICE)

    def forget(self, pid: int) -> None:
        """Keep no record of a candidate any longer."""
        self._running.discard(pid)
        self._ended.pop(pid, None)

    def close(self) -> None:
        """End the zygote and every process below it."""
        self._wire.close()  # at which it ends its candidates and itself
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOPPED)
        population.end_below(self._process.pid)
        self._process.kill()
        self._process.wait()
        if not self.isolation.has(Layer.FILES):
            scratch.remove_left_by(self._process.pid)
        with contextlib.suppress(OSError):
            os.close(self._said)

    @property
    def pid(self) -> int:
        """The process id; another one once a lost zygote has been replaced."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def _note(self, answer: dict[str, Any]) -> None:
        if answer.get("ended") in self._running:
            self._ended[int(answer["ended"])] = int(answer["status"])

    def _last_words(self) -> str:
        self._process.kill()
        code = self._process.wait()
        size = os.fstat(self._said).st_size
        said = os.pread(self._said, 4096, max(0, size - 4096)).decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else f"it ended with exit code {code}"
