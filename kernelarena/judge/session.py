"""The judge's handle to one candidate process: what it is asked, how long it may take, and how it ended."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from kernelarena.judge import sandbox, stacks
from kernelarena.judge.ending import HUNG_UP, UNASKED, CandidateEnded, died, outgrew, stopped
from kernelarena.judge.printed import PAUSE, Printed
from kernelarena.judge.wire import ACT, Wire, WireError, WireTimeout
from kernelarena.judge.zygote import Zygote, ZygoteLost
from kernelarena.spec import Kernel, Location, Reason

__all__ = ["CandidateEnded", "Session", "line_of", "locate"]

_MESSAGE = 8 << 20  # bytes; a hostile message costs the judge many times its size
_ACTS = 20  # kept
_TALK = 64 << 20  # bytes in answer to one request, in however many messages
_LAST_WORDS = 0.3  # seconds for the candidate to print its stack
_VERDICT = 2.0  # seconds for its first process to say how it ended


class Session:
    """A candidate process with a kernel's files in a scratch folder of its own.

    Parameters
    ----------
    zygote
        What it is forked from.
    kernel
        The kernel; only its files reach the candidate.
    quota
        Resource limits.

    Attributes
    ----------
    folder
        Where the kernel's files lie, as the candidate sees it; the host need not have such a folder.
    isolation
        Which layers keep the candidate from what is not its own.
    noticed
        What the candidate told of the kernel's acts, at once when it noticed them.
    """

    def __init__(self, zygote: Zygote, kernel: Kernel, quota: sandbox.Quota | None = None) -> None:
        self._zygote = zygote
        self._quota = quota or sandbox.Quota()
        self._kernel = kernel
        check_names(kernel)
        self._ended = False
        self.noticed: list[Any] = []
        self._printed = Printed()
        self._pause_ends = 0.0
        self._heard = 0
        """Bytes that it had sent when it was last asked something."""
        self._wire, talk = Wire.pair(limit=_MESSAGE, takes_files=False)
        self._control, control = Wire.pair(takes_files=False)
        try:
            with talk, control:
                forked = zygote.fork(talk, self._printed.writer, control, kernel.files, self._quota)
        except BaseException:
            self._close_descriptors()
            raise
        finally:
            os.close(self._printed.writer)
        self._pid = forked.pid
        self._scratch = forked.scratch
        self.folder = Path(forked.scratch, "kernel")
        self.isolation = zygote.isolation
        self._talk = _polling(self._wire, self._control)
        self._everything = _polling(self._wire, self._control, self._printed)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: dict[str, Any], seconds: float, files: Sequence[int] = ()) -> dict[str, Any]:
        """Send a request and return the answer to it.

        The request is given a number that nobody can guess, unless it has one (``id``), and the answer must repeat it.

        Raises
        ------
        CandidateEnded
            If no answer came, or one to a question that was not asked: the reason says why.
        ZygoteLost
            If the candidate went away through no doing of its own.
        """
        return self.answer(self.post(request, seconds, files), seconds)

    def post(self, request: dict[str, Any], seconds: float, files: Sequence[int] = ()) -> str:
        """Send a request whose answer is waited for later, and before the next one; return its number.

        Raises
        ------
        CandidateEnded, ZygoteLost
            See `ask`.
        """
        request = {"id": secrets.token_hex(8), **request}
        while (early := self._take()) is not None:
            if not self._notes(early):
                raise self._give_up(UNASKED)
        self._send(request, seconds, files)
        return str(request["id"])

    def answer(self, number: str, seconds: float) -> dict[str, Any]:
        """Wait for the answer to a request that was posted; see `ask`."""
        answer = next(self._messages(seconds))
        if answer.get("id") != number:
            raise self._give_up(UNASKED)
        said = answer.get("acts", [])
        return {**answer, "acts": [*self.noticed, *said] if isinstance(said, list) else said}

    def _notes(self, message: dict[str, Any]) -> bool:
        """Keep what a message tells of an act; return whether it is one that does."""
        if message.keys() != {ACT}:
            return False
        if len(self.noticed) < _ACTS:
            self.noticed.append(message[ACT])
        return True

    def stream(self, request: dict[str, Any], seconds: float, files: Sequence[int] = ()) -> Iterator[dict[str, Any]]:
        """Send a request and yield messages as they come, for as long as the caller wants more.

        Raises
        ------
        CandidateEnded
            If the candidate ended, said too much, or the deadline passed.
        ZygoteLost
            If the candidate went away through no doing of its own.
        """
        self._send(request, seconds, files)
        yield from self._messages(seconds)

    def _send(self, request: dict[str, Any], seconds: float, files: Sequence[int]) -> None:
        if self._ended:
            raise CandidateEnded(Reason.CRASH, "its process has been ended already")
        self._heard = self._wire.received
        try:
            self._wire.send(request, files, time.monotonic() + seconds)
        except WireTimeout:
            raise self._late(seconds) from None
        except WireError:
            raise self._post_mortem() from None

    def _messages(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Yield what comes in answer to the last request."""
        deadline = time.monotonic() + seconds
        while True:
            message = self._receive(deadline, seconds)
            if self._wire.received - self._heard > _TALK:
                raise self._give_up((Reason.JUDGE_TAMPERING, f"it sent more than {_TALK >> 20} MiB in one answer"))
            if not self._notes(message):
                yield message

    def _receive(self, deadline: float, seconds: float) -> dict[str, Any]:
        while True:
            if (message := self._take()) is not None:
                return message
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise self._late(seconds)
            ready = self._ready(remaining)
            # What the candidate said before its end counts, so its first process is heard last.
            if self._control.fileno() in ready and self._wire.fileno() not in ready:
                raise self._post_mortem()

    def _ready(self, seconds: float) -> set[int]:
        """Wait for something to happen; return the descriptors of the wires on which it did."""
        now = time.monotonic()
        if not self._printed.open:
            return _descriptors(self._talk, seconds)
        if now < self._pause_ends:
            return _descriptors(self._talk, min(seconds, self._pause_ends - now))
        ready = _descriptors(self._everything, seconds)
        if self._printed.fileno() in ready and not self._printed.drain():
            self._pause_ends = time.monotonic() + PAUSE
        return ready

    def _take(self) -> dict[str, Any] | None:
        try:
            return self._wire.try_receive()
        except WireError:
            raise self._post_mortem() from None

    def _late(self, seconds: float) -> CandidateEnded:
        location = self._where_it_hangs()
        return self._give_up((Reason.TIMEOUT, f"it did not answer within {seconds:g} s and was ended"), location)

    def _give_up(self, why: tuple[Reason, str], location: Location | None = None) -> CandidateEnded:
        """End the candidate; return what is to be raised."""
        self._printed.drain()
        self.close()
        return CandidateEnded(*why, location)

    def _where_it_hangs(self) -> Location | None:
        """Have the candidate print its stack, and find the kernel's line in it."""
        before = self._printed.text().count(stacks.HEADING)
        with contextlib.suppress(WireError, WireTimeout):
            self._control.send({"stack": True}, deadline=time.monotonic() + _LAST_WORDS)
        end = time.monotonic() + _LAST_WORDS
        printed = _polling(self._printed)
        while self._printed.open and (left := end - time.monotonic()) > 0 and _descriptors(printed, left):
            self._printed.drain()
            if self._printed.text().count(stacks.HEADING) > before:
                end = min(end, time.monotonic() + 0.02)  # the lines follow at once
        return self.location_in_log()

    def _post_mortem(self) -> Exception:
        """Say how the candidate ended: its wire is closed, or its first process has something to say."""
        try:
            told = self._control.receive(time.monotonic() + _VERDICT)
        except WireTimeout:
            return self._give_up(HUNG_UP)
        except WireError:
            return self._vanished()
        self._printed.drain()
        location = self.location_in_log()
        if "broken" in told:
            self.close()
            return ZygoteLost(told["broken"])
        if "over" in told:
            return self._give_up(outgrew(told["over"], self._quota), location)
        if "stopped" in told:
            return self._give_up(stopped(told["stopped"]))
        self.close()
        deep = stacks.is_cut_off(self._printed.text())
        return died(told["ended"], location, no_memory=told["no-memory"], deep=deep)

    def _vanished(self) -> Exception:
        """Say what became of a candidate whose first process ended without a word."""
        status = self._zygote.wait(self._pid, _VERDICT)
        self._printed.drain()
        location = self.location_in_log()
        self.close()
        if status is not None and os.WIFSIGNALED(status):
            return died(status, location, no_memory=True)
        return ZygoteLost("the process that looks after a candidate was lost, and the candidate with it")

    def log(self) -> str:
        """Return the end of what the candidate printed, with paths as the kernel's author knows them.

        The scratch folder's name may change with every run, and would make equal runs differ.
        """
        if not self._ended:
            self._printed.drain()
        text = self._printed.text().replace(f"{self.folder}/", "").replace(self._scratch, "~")
        return text.replace(f"{sys.prefix}/", "")

    def stack(self) -> list[tuple[str, int]]:
        """Return files and lines of the stack that was printed last, innermost first, as the candidate tells it."""
        return stacks.last(self._printed.text())

    def location_in_log(self) -> Location | None:
        """Return the innermost line of the kernel's own source in the stack that was printed last."""
        for path, line in self.stack():
            if (found := locate(self._kernel, self.folder, path, line)) is not None:
                return found
        return None

    def close(self, *, wait: float = 0.0) -> None:
        """End the candidate with all its children and throw its folder away.

        Parameters
        ----------
        wait
            Seconds to wait until all of them are gone, so that whatever they held (a device's memory) is free.
        """
        if not self._ended:
            self._ended = True
            self._printed.drain()
            self._zygote.end(self._pid)
            self._close_descriptors()
        if wait:
            self._zygote.wait(self._pid, wait)
        self._zygote.forget(self._pid)

    def _close_descriptors(self) -> None:
        self._wire.close()
        self._control.close()
        self._printed.close()


def _polling(*channels: Wire | Printed) -> select.poll:
    polling = select.poll()  # not `select`, which knows no descriptor above 1023
    for channel in channels:
        polling.register(channel, select.POLLIN)
    return polling


def _descriptors(polling: select.poll, seconds: float) -> set[int]:
    return {descriptor for descriptor, _ in polling.poll(seconds * 1000)}


def check_names(kernel: Kernel) -> None:
    """Refuse files that would not lie in the kernel's folder.

    Raises
    ------
    ValueError
        If a path leads out of it.
    """
    for name in kernel.files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ValueError(f"'{name}' leads out of the kernel's folder")


def locate(kernel: Kernel, folder: Path, path: str, line: int) -> Location | None:
    """Turn a path and a line of a stack into a line of the kernel's source, or None when it is not the kernel's."""
    try:
        name = str(PurePosixPath(os.path.normpath(path)).relative_to(folder))
    except ValueError:
        return None
    return line_of(kernel, name, line)


def line_compiled(kernel: Kernel, path: str, line: int) -> Location | None:
    """Return a line of the kernel's source by the path that some process, perhaps another one, compiled it from."""
    parts = PurePosixPath(path).parts
    tails = ("/".join(parts[start:]) for start in range(len(parts)))
    name = next((tail for tail in tails if tail in kernel.files), "")
    return line_of(kernel, name, line)


def line_of(kernel: Kernel, file: str, line: int) -> Location | None:
    """Return a line of the kernel's source, or None when it has no such line."""
    lines = kernel.files.get(file, "").splitlines()
    return Location(file=file, line=line, text=lines[line - 1]) if 0 < line <= len(lines) else None
