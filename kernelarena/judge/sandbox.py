"""What a candidate process gives up before it touches a kernel, and how it is ended with all its children."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from pathlib import Path

from kernelarena.spec.base import Model

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_libc = ctypes.CDLL(None, use_errno=True)

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "TZ")
"""What of the environment reaches a candidate; nothing of the run, of the user's tokens or of the cluster does."""


class Quota(Model):
    """What a candidate may use."""

    address_space: int = 16 << 30
    """Bytes beyond what it has mapped at its start; lazily mapped inputs count."""
    resident: int = 3 << 30
    """Bytes of memory really in use, watched from outside."""
    file_size: int = 64 << 20
    """Bytes of any file that it writes, its own output included."""


def die_with_parent() -> None:
    """Have the kernel end this process when the one that started it ends, however that happens."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended, so that none can be lost sight of."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def confine(scratch: Path, quota: Quota) -> None:
    """Give up what a kernel does not need; called in the forked process, before the kernel's code is read.

    Parameters
    ----------
    scratch
        The folder that becomes home, temporary and working folder; it is thrown away afterwards.
    quota
        Resource limits.
    """
    os.setsid()
    die_with_parent()
    os.chdir(scratch)
    os.environ.update(HOME=str(scratch), TMPDIR=str(scratch), XDG_CACHE_HOME=str(scratch / "cache"))
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _limit(resource.RLIMIT_AS, mapped + quota.address_space)
    _limit(resource.RLIMIT_FSIZE, quota.file_size)
    _limit(resource.RLIMIT_CORE, 0)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def end_group(pid: int) -> None:
    """End a candidate and everything in its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def end_descendants(root: int, spared: frozenset[int] = frozenset()) -> None:
    """End every process below ``root`` but those in ``spared`` and what is below them.

    Repeated until none is left, because a process may fork while it is being looked for.
    """
    for _ in range(50):
        doomed = _below(root, spared)
        if not doomed:
            return
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _below(root: int, spared: frozenset[int]) -> list[int]:
    found: list[int] = []
    todo = [root]
    while todo:
        for pid in _children(todo.pop()):
            if pid not in spared:
                found.append(pid)
                todo.append(pid)
    return found


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
    found: list[int] = []
    for task in tasks:
        with contextlib.suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def resident_bytes(pid: int) -> int:
    """Return the memory that a process really uses, in bytes; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0
