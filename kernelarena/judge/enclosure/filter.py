"""The system calls that a kernel has no use for, refused by a filter in the operating system.

The filter is a program of the classic Berkeley packet filter's instructions, which Linux runs on every system call. A
refused call fails with "operation not permitted"; nothing is ended by it, so that honest code which tries its luck goes
on. Sources: ``seccomp(2)``; ``linux/filter.h``; the tables of system calls of both architectures.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass, field

from kernelarena.judge.enclosure import system

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in what the filter is shown; low words come first
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # calls by the third set of numbers of x86-64

_NAMESPACES = 0x7E020000 | 0x80  # every CLONE_NEW… flag
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

# x86-64, aarch64; -1 where the architecture has no such call.
_REFUSED: dict[str, tuple[int, int]] = {
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    # the tree of files
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265), "swapon": (167, 224),
    "swapoff": (168, 225), "quotactl": (179, 60), "fanotify_init": (300, 262),
    # namespaces, keys, and the machine as a whole
    "unshare": (272, 97), "setns": (308, 268), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142),
    "acct": (163, 89), "syslog": (103, 116), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "iopl": (172, -1), "ioperm": (173, -1), "vhangup": (153, 58),
    # large parts of the operating system that widen what can be attacked, or pass by this filter
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # memory that belongs to no process, and so counts for none
    "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "memfd_secret": (447, 447),
}  # fmt: skip
_MEMFD_CREATE = (319, 279)
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_SIGNALS = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
}  # fmt: skip


@dataclass
class _Program:
    """Instructions, each of which refuses or goes on; a call that passes them all is allowed."""

    code: list[bytes] = field(default_factory=list)

    def add(self, code: int, value: int, jump_true: int = 0, jump_false: int = 0) -> None:
        self.code.append(struct.pack("<HBBI", code, jump_true, jump_false, value))

    def load(self, offset: int) -> None:
        self.add(_LOAD, offset)

    def refuse(self, number: int, error: int = errno.EPERM) -> None:
        """Refuse a system call."""
        self.add(_JUMP_EQUAL, number, 0, 1)
        self.add(_RETURN, _REFUSE | error)

    def refuse_if_set(self, number: int, bits: int) -> None:
        """Refuse a call whose first argument has any of some bits."""
        self.add(_JUMP_EQUAL, number, 0, 4)
        self.load(_FIRST_ARGUMENT)
        self.add(_JUMP_SET, bits, 0, 1)
        self.add(_RETURN, _REFUSE | errno.EPERM)
        self.add(_RETURN, _ALLOW)

    def refuse_unless(self, number: int, values: tuple[int, ...]) -> None:
        """Refuse a call whose first argument is none of some values."""
        self.add(_JUMP_EQUAL, number, 0, 3 + len(values))
        self.load(_FIRST_ARGUMENT)
        for place, value in enumerate(values):
            self.add(_JUMP_EQUAL, value, len(values) - place, 0)
        self.add(_RETURN, _REFUSE | errno.EPERM)
        self.add(_RETURN, _ALLOW)


def program(*, networked: bool, own_pid: int | None, device: bool, machine: str | None = None) -> bytes:
    """Return the filter's instructions.

    Parameters
    ----------
    networked
        Whether the process shares the host's network, so that it may open no connection at all.
    own_pid
        Where it shares the host's processes: the only one that it may signal, its own.
    device
        Whether a device's runtime works in the process; it may create files in memory.
    machine
        Of the processor; this host's if None.

    Raises
    ------
    OSError
        If its system calls are not known.
    """
    machine = machine or platform.machine()
    if machine not in _AUDIT:
        raise OSError(errno.ENOSYS, f"the system calls of {machine} are not known")
    column = list(_AUDIT).index(machine)
    made = _Program()
    made.load(_ARCHITECTURE)
    made.add(_JUMP_EQUAL, _AUDIT[machine], 1, 0)
    made.add(_RETURN, _REFUSE | errno.EPERM)  # numbers of another architecture mean other calls
    made.load(_NUMBER)
    if machine == "x86_64":
        made.add(_JUMP_ABOVE, _X32, 0, 1)
        made.add(_RETURN, _REFUSE | errno.EPERM)
    refused = [*_REFUSED.values(), *([] if device else [_MEMFD_CREATE])]
    for numbers in refused:
        number = numbers[column]
        if number >= 0:
            made.refuse(number)
    # Its flags lie in memory, where a filter cannot look; the C library then uses `clone`.
    made.refuse(_CLONE3[column], errno.ENOSYS)
    made.refuse_if_set(_CLONE[column], _NAMESPACES)
    families = (_UNIX, _INET, _INET6, _NETLINK) if not networked else ((_UNIX,) if device else ())
    made.refuse_unless(_SOCKET[column], families)
    if own_pid is not None:
        for numbers in _SIGNALS.values():
            made.refuse_unless(numbers[column], (own_pid, 0))
    made.add(_RETURN, _ALLOW)
    return b"".join(made.code)


def install(instructions: bytes) -> None:
    """Put the filter on this process and all that it starts; it can never be taken off.

    Raises
    ------
    OSError
        If the operating system has no such filters.
    """
    code = ctypes.create_string_buffer(instructions, len(instructions))
    described = struct.pack("@HxxxxxxQ", len(instructions) // 8, ctypes.addressof(code))
    pointer = ctypes.create_string_buffer(described, len(described))
    system.prctl(system.PR_SET_SECCOMP, system.SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(pointer)))
