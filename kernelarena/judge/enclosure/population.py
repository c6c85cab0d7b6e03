"""The processes of one candidate, as the first of them sees them: how many, and how much memory they use."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COUNTED = (b"RssAnon:", b"RssShmem:", b"VmSwap:")


@dataclass(frozen=True)
class Usage:
    """What some processes use together."""

    processes: int
    tasks: int
    """Processes and threads."""
    bytes: int
    """Memory that is theirs: not the pages of files, and not what they share with the process they were forked from."""


def usage(pids: Iterator[int], inherited: int) -> Usage:
    """Add up what processes use.

    Parameters
    ----------
    pids
        The processes.
    inherited
        Bytes that each shares with the process that all were forked from.
    """
    processes = tasks = used = 0
    for pid in pids:
        threads, size = _look(pid)
        processes += 1
        tasks += threads
        used += max(0, size - inherited)
    return Usage(processes, tasks, used)


def private_bytes(pid: int) -> int:
    """Return the memory of a process that does not mirror a file, in bytes; 0 when it has ended."""
    return _look(pid)[1]


def _look(pid: int) -> tuple[int, int]:
    """Return threads and bytes. Only what anyone may read is read: a candidate keeps the rest to itself."""
    threads = kibibytes = 0
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            if line.startswith(_COUNTED):
                kibibytes += int(line.split()[1])
            elif line.startswith(b"Threads:"):
                threads = int(line.split()[1])
    return threads, kibibytes << 10


def everyone() -> Iterator[int]:
    """Yield every process of a namespace but the first, where ``/proc`` shows that namespace."""
    yield from (int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1")


def below(root: int, spared: frozenset[int] = frozenset()) -> Iterator[int]:
    """Yield the processes that descend from ``root``, without those in ``spared`` and what is below them."""
    waiting = [root]
    while waiting:
        for pid in _children(waiting.pop()):
            if pid not in spared:
                waiting.append(pid)
                yield pid


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(word) for word in (task / "children").read_text().split()]
    return found


def end_below(root: int, spared: frozenset[int] = frozenset()) -> None:
    """End every process below ``root`` but those in ``spared`` and what is below them.

    Repeated until none is left, because a process may fork while it is being looked for.
    """
    for _ in range(50):
        doomed = [pid for pid in below(root, spared) if state(pid) not in ("", "Z")]
        if not doomed:
            return
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def end_group(pid: int) -> None:
    """End a process and everything in its process group."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


def state(pid: int) -> str:
    """Return the letter by which the system calls a process's state (``T`` for stopped); empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
