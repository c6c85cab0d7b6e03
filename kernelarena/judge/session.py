"""The judge's handle to one candidate process: what it is asked, how long it may take, and how it ended."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kernelarena.judge import sandbox
from kernelarena.judge.wire import Wire, WireError, WireTimeout
from kernelarena.judge.zygote import Zygote
from kernelarena.spec import Kernel, Location, Reason

_TICK = 0.1  # seconds between looks at the memory in use
_LOG_TAIL = 16 << 10
# Followed by the judge's process id, so that what a killed judge left can be told from what is in use.
_SCRATCH = "kab-mc-"
_ABANDONED = 3600.0  # seconds; no cell takes as long
_SIGNALS = {
    signal.SIGSEGV: (Reason.ILLEGAL_ACCESS, "it accessed memory that is not its own (SIGSEGV)"),
    signal.SIGBUS: (Reason.ILLEGAL_ACCESS, "it accessed memory that is not there (SIGBUS)"),
    signal.SIGABRT: (Reason.CRASH, "it aborted (SIGABRT)"),
    signal.SIGFPE: (Reason.CRASH, "it divided by zero (SIGFPE)"),
    signal.SIGILL: (Reason.CRASH, "it executed an illegal instruction (SIGILL)"),
    signal.SIGKILL: (Reason.OUT_OF_MEMORY, "it was ended by the system, which does so when memory runs out (SIGKILL)"),
}


class CandidateEnded(Exception):
    """The candidate crashed, hung or outgrew its quota.

    Parameters
    ----------
    reason
        ``timeout``, ``out-of-memory``, ``illegal-access`` or ``crash``.
    detail
        What happened, as the end of a sentence about the kernel.
    location
        The kernel's own line that was being executed, where that is known.
    exit_code
        As :mod:`subprocess` gives it, negative for a signal; None if the judge had to end it.
    """

    def __init__(
        self, reason: Reason, detail: str, location: Location | None = None, exit_code: int | None = None
    ) -> None:
        super().__init__(detail)
        self.exit_code = exit_code
        self.reason = reason
        self.detail = detail
        self.location = location


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
    """

    def __init__(self, zygote: Zygote, kernel: Kernel, quota: sandbox.Quota | None = None) -> None:
        self._zygote = zygote
        self._quota = quota or sandbox.Quota()
        self._kernel = kernel
        self._scratch = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH}{os.getpid()}-"))
        self.folder = self._scratch / "kernel"
        write_files(kernel, self.folder)
        self._log = os.memfd_create("log", os.MFD_CLOEXEC)
        self._wire, theirs = Wire.pair()
        try:
            with theirs:
                self._pid = zygote.fork(theirs, self._log, str(self._scratch), self._quota)
        except BaseException:
            self._wire.close()
            self._clean()
            raise
        self._ended = False

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: dict[str, Any], seconds: float, files: Sequence[int] = ()) -> dict[str, Any]:
        """Send a request and return the answer to it.

        Raises
        ------
        CandidateEnded
            If no answer came: the reason says why.
        """
        return next(self.stream(request, seconds, files))

    def stream(self, request: dict[str, Any], seconds: float, files: Sequence[int] = ()) -> Iterator[dict[str, Any]]:
        """Send a request and yield messages as they come, for as long as the caller wants more.

        Raises
        ------
        CandidateEnded
            If the candidate ended, or the deadline passed.
        """
        deadline = time.monotonic() + seconds
        try:
            self._wire.send(request, files)
            while True:
                yield self._receive(deadline, seconds)
        except WireError:
            raise self._post_mortem() from None

    def _receive(self, deadline: float, seconds: float) -> dict[str, Any]:
        while True:
            now = time.monotonic()
            if now >= deadline:
                location = self._where_it_hangs()
                self.close()
                raise CandidateEnded(Reason.TIMEOUT, f"it did not answer within {seconds:g} s and was ended", location)
            try:
                return self._wire.receive(min(deadline, now + _TICK))
            except WireTimeout:
                used = sandbox.resident_bytes(self._pid)
                if used > self._quota.resident:
                    location = self._where_it_hangs()
                    self.close()
                    limit = self._quota.resident >> 20
                    raise CandidateEnded(
                        Reason.OUT_OF_MEMORY, f"it used {used >> 20} MiB of memory; it may use {limit} MiB", location
                    ) from None

    def _where_it_hangs(self) -> Location | None:
        """Have the candidate print its stack, and find the kernel's line in it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGUSR1)
        time.sleep(0.2)
        return self.location_in_log()

    def _post_mortem(self) -> CandidateEnded:
        """Say how the candidate ended; its wire is closed already."""
        status = self._zygote.wait(self._pid, seconds=1.0)
        location = self.location_in_log()
        self.close()
        if status is None:
            return CandidateEnded(Reason.CRASH, "it closed its connection and had to be ended", location)
        if os.WIFSIGNALED(status):
            reason, words = _SIGNALS.get(
                signal.Signals(os.WTERMSIG(status)), (Reason.CRASH, f"signal {os.WTERMSIG(status)} ended it")
            )
            return CandidateEnded(reason, words, location, -os.WTERMSIG(status))
        return CandidateEnded(
            Reason.CRASH,
            f"its process ended by itself with exit code {os.WEXITSTATUS(status)}",
            location,
            os.WEXITSTATUS(status),
        )

    def log(self) -> str:
        """Return the end of what the candidate printed, with paths as the kernel's author knows them.

        The scratch folder's name changes with every run, and would make equal runs differ.
        """
        text = self._raw_log().replace(f"{self.folder}/", "").replace(str(self._scratch), "~")
        return text.replace(f"{sys.prefix}/", "")

    def _raw_log(self) -> str:
        size = os.fstat(self._log).st_size
        return os.pread(self._log, _LOG_TAIL, max(0, size - _LOG_TAIL)).decode("utf-8", "replace")

    def location_in_log(self) -> Location | None:
        """Return the innermost line of the kernel's own source in the stack that was printed last."""
        stack = self._raw_log().rsplit("most recent call first", 1)[-1]
        for path, line in re.findall(r'File "([^"]+)", line (\d+)', stack):
            if (found := locate(self._kernel, self.folder, path, int(line))) is not None:
                return found
        return None

    def close(self) -> None:
        """End the candidate with all its children and throw its folder away."""
        if self._ended:
            return
        self._ended = True
        self._zygote.end(self._pid)
        self._wire.close()
        self._clean()

    def _clean(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def __del__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.close(self._log)


def remove_abandoned() -> None:
    """Remove scratch folders of judges that were killed before they could do it themselves.

    Only those that have lain for an hour: where containers share the folder, a judge that is at work in another one
    has a process id that does not exist here.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*-*"):
        owner = folder.name.removeprefix(_SCRATCH).partition("-")[0]
        with contextlib.suppress(OSError):
            old = time.time() - folder.stat().st_mtime > _ABANDONED
            if old and owner.isdigit() and not Path(f"/proc/{owner}").exists():
                shutil.rmtree(folder, ignore_errors=True)


def write_files(kernel: Kernel, folder: Path) -> None:
    """Lay a kernel's files out in a folder.

    Raises
    ------
    ValueError
        If a path leads out of the folder.
    """
    for name, text in kernel.files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise ValueError(f"'{name}' leads out of the kernel's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")


def locate(kernel: Kernel, folder: Path, path: str, line: int) -> Location | None:
    """Turn a path and a line of a stack into a line of the kernel's source, or None when it is not the kernel's."""
    try:
        name = str(Path(path).resolve().relative_to(folder.resolve()))
    except ValueError:
        return None
    return line_of(kernel, name, line)


def line_of(kernel: Kernel, file: str, line: int) -> Location | None:
    """Return a line of the kernel's source, or None when it has no such line."""
    lines = kernel.files.get(file, "").splitlines()
    return Location(file=file, line=line, text=lines[line - 1]) if 0 < line <= len(lines) else None
