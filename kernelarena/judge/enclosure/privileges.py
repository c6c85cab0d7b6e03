"""What a candidate gives up: its user, every capability, the hope for new ones, and resources beyond its quota."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from pathlib import Path

from kernelarena.judge.enclosure import filter as system_calls
from kernelarena.judge.enclosure import system
from kernelarena.spec.base import Model

INSIDE = 1000
"""The kernel's user and group, as it sees them."""
NOBODY = 65534
"""The user of the host that it is where the judge is root."""


class Quota(Model):
    """What a candidate may use, all its processes together."""

    address_space: int | None = 16 << 30
    """Bytes beyond what one process has mapped at its start; lazily mapped inputs count. None sets no limit, as the
    runtimes of devices reserve terabytes."""
    resident: int = 3 << 30
    """Bytes of memory really in use, files in memory included; watched from outside."""
    file_size: int = 64 << 20
    """Bytes of any file that it writes."""
    storage: int = 1 << 30
    """Bytes of all files that it writes, where it has a file system of its own."""
    processes: int = 64
    """Processes."""
    tasks: int = 1024
    """Processes and threads."""


def die_with_parent() -> None:
    """Have this process ended when the one that started it ends, however that happens."""
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended, so that none can be lost sight of."""
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)


def hide_memory(hidden: bool = True) -> None:
    """Let no process of the same user read or write this one's memory, or see its environment and open files."""
    system.prctl(system.PR_SET_DUMPABLE, int(not hidden))


def limit(quota: Quota, *, counted_alone: bool) -> None:
    """Apply the limits that the operating system keeps for each process.

    Parameters
    ----------
    quota
        The limits.
    counted_alone
        Whether the operating system counts the kernel's processes apart from all others. If not, their number is
        watched from outside only.
    """
    if quota.address_space is not None:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, mapped + quota.address_space)
    if counted_alone:
        _limit(resource.RLIMIT_NPROC, quota.tasks)
    _limit(resource.RLIMIT_FSIZE, quota.file_size)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    _limit(resource.RLIMIT_NOFILE, 4096)  # each open pipe or socket can hold memory that counts for no process
    with contextlib.suppress(OSError):
        # When memory runs out for the whole host, this is where to look first.
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def drop(user: int | None, groups: list[int]) -> None:
    """Become an unprivileged user for good.

    Parameters
    ----------
    user
        Whom to become; None stays who this process is.
    groups
        Further groups, such as the one that may open a device.
    """
    with contextlib.suppress(OSError):  # the first number that this system has no capability for
        for capability in range(64):
            system.prctl(system.PR_CAPBSET_DROP, capability)
    if user is not None:
        os.setgroups(groups)
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    with contextlib.suppress(OSError):  # Linux before 4.3 has none of these
        system.prctl(system.PR_CAP_AMBIENT, system.PR_CAP_AMBIENT_CLEAR_ALL)
    system.clear_capabilities()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    # Afterwards, because a change of user resets both.
    die_with_parent()
    hide_memory()


def filter_system_calls(*, networked: bool, all_processes: bool, device: bool) -> None:
    """Refuse what a kernel has no use for.

    Parameters
    ----------
    networked, all_processes
        Whether the process shares the host's network, and the host's processes.
    device
        Whether a device's runtime works in it.

    Raises
    ------
    OSError
        If that is not possible here.
    """
    own = os.getpid() if all_processes else None
    system_calls.install(system_calls.program(networked=networked, own_pid=own, device=device))
