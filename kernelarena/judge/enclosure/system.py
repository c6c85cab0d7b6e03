"""System calls that Python has no function for, by name; a refusal is an :class:`OSError`, as from :mod:`os`."""

from __future__ import annotations

import ctypes
import errno
import functools
import operator
import os
import platform
import re
import signal
import struct

CLONE_PARENT = 0x00008000
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SECCOMP_MODE_FILTER = 2

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_CAPABILITY_VERSION_3 = 0x20080522

MACHINES = {"x86_64": (56, 155, 442), "aarch64": (220, 41, 442)}
"""Numbers of ``clone``, ``pivot_root`` and ``mount_setattr``, by machine."""

_libc = ctypes.CDLL(None, use_errno=True)
# A fork with the interpreter's lock given up would leave the child waiting for a lock that nobody holds any more.
_locked = ctypes.PyDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


@functools.cache
def _numbers() -> tuple[int, int, int]:
    machine = platform.machine()
    if machine not in MACHINES:
        raise OSError(0, f"the system calls of {machine} are not known")
    return MACHINES[machine]


def clone(namespaces: int) -> int:
    """Fork into new namespaces; return the child's process id, and 0 in the child.

    None of what :func:`os.fork` and the C library do around a fork is done. The caller has one thread, and the child
    must neither raise signals at itself nor start threads before it has forked in the ordinary way.
    """
    number, _, _ = _numbers()
    words = [ctypes.c_long(word) for word in (number, namespaces | signal.SIGCHLD, 0, 0, 0, 0)]
    return _check(_locked.syscall(*words), "clone")


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str | None = None) -> None:
    """Mount something."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    result = _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3])
    _check(result, f"mount on {target}")


def unmount(target: str) -> None:
    """Take a mount out of the tree, with all below it; it goes away with its last user."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make the mount ``new`` the root, and let the former root appear at ``old``."""
    _, number, _ = _numbers()
    _check(_libc.syscall(ctypes.c_long(number), os.fsencode(new), os.fsencode(old)), "pivot_root")


def make_read_only(target: str) -> None:
    """Make a mount and all mounts below it read-only, and without device nodes and set-user-id programs."""
    _, _, number = _numbers()
    wanted = struct.pack("<QQQQ", MS_RDONLY | MS_NOSUID | MS_NODEV, 0, 0, 0)  # the same bits as MOUNT_ATTR_…
    words = [ctypes.c_long(number), ctypes.c_long(_AT_FDCWD), os.fsencode(target), ctypes.c_long(_AT_RECURSIVE)]
    try:
        _check(_libc.syscall(*words, wanted, ctypes.c_size_t(len(wanted))), f"make {target} read-only")
    except OSError as error:
        if error.errno != errno.ENOSYS:  # Linux before 5.12
            raise
        for place, flags in _mounts_at_and_below(target):
            kept = flags | MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV
            mount("none", place, None, kept)


def _mounts_at_and_below(target: str) -> list[tuple[str, int]]:
    """Return mount points with the flags that they have: in a user namespace none of them may be taken off."""
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.split()
            place = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
            if place == target or place.startswith(target.rstrip("/") + "/"):
                flags = [_MOUNT_FLAGS.get(option, 0) for option in fields[5].split(",")]
                found.append((place, functools.reduce(operator.or_, flags, 0)))
    return found


_MOUNT_FLAGS = {
    "ro": MS_RDONLY, "nosuid": MS_NOSUID, "nodev": MS_NODEV, "noexec": 0x8, "noatime": 0x400, "nodiratime": 0x800,
    "relatime": 0x200000,
}  # fmt: skip


def prctl(option: int, first: int = 0, second: int | ctypes.c_void_p = 0) -> None:
    """Change something about this process."""
    arguments = [ctypes.c_ulong(first), second if isinstance(second, ctypes.c_void_p) else ctypes.c_ulong(second)]
    _check(_libc.prctl(option, *arguments, ctypes.c_ulong(0), ctypes.c_ulong(0)), f"prctl {option}")


def clear_capabilities() -> None:
    """Give up every capability: effective, permitted, inheritable."""
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, bytes(24)), "capset")
