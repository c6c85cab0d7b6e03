"""Kernels that do their worst at import, with the reason that each must be given; and what they may leave behind."""

import os
import time
from dataclasses import dataclass

from kernelarena.judge.enclosure.population import below, state
from kernelarena.judge.sandbox import Quota
from kernelarena.spec import Reason

SMALL = Quota(resident=300 << 20, storage=128 << 20, processes=8)


@dataclass(frozen=True)
class Hostile:
    """What a kernel does, and what is said of it."""

    source: str
    reason: Reason | None
    """None where it is an exception like any other, or nothing of note, and the process lives on."""
    said: str = ""
    """Part of the detail, or of the message of the exception."""
    seconds: float = 20.0
    line: int | None = None
    """The line of the kernel that is pointed at, where that can be known."""
    enclosed: bool = False
    """Whether it could do harm, or would end otherwise, where a layer of isolation is missing."""


KERNELS = {
    "segfault": Hostile("import ctypes\nctypes.string_at(8)", Reason.ILLEGAL_ACCESS, "SIGSEGV", line=2),
    "abort": Hostile("import os\nos.abort()", Reason.CRASH, "SIGABRT", line=2),
    "exits as if all were well": Hostile("import os\nos._exit(0)", Reason.CRASH, "exit code 0"),
    "endless loop": Hostile("while True:\n    pass", Reason.TIMEOUT, "within 1 s", seconds=1.0, line=1),
    "endless loop that no signal ends": Hostile(
        "import signal\nfor n in set(range(1, 65)) - {9, 19, 32, 33}:\n    signal.signal(n, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True:\n    pass",
        Reason.TIMEOUT, seconds=1.0,
    ),
    "fork bomb": Hostile("import os\nwhile True:\n    os.fork()", Reason.CRASH, "processes; it may run 8"),
    "fork bomb that takes no for an answer": Hostile(
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        Reason.CRASH, "processes; it may run 8",
    ),
    "memory hog": Hostile("import time\nhog = b'x' * (600 << 20)\ntime.sleep(60)", Reason.OUT_OF_MEMORY, "300 MiB"),
    "memory hog in shared pages": Hostile(
        "import mmap, time\nhog = mmap.mmap(-1, 600 << 20)\nfor n in range(0, 600 << 20, 1 << 20):\n"
        "    hog[n : n + (1 << 20)] = b'x' * (1 << 20)\ntime.sleep(60)",
        Reason.OUT_OF_MEMORY, "300 MiB",
    ),
    "memory hog by its children": Hostile(
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        hog = b'x' * (100 << 20)\n"
        "        time.sleep(60)\ntime.sleep(60)",
        Reason.OUT_OF_MEMORY, "300 MiB",
    ),
    "memory hog in a file without a name": Hostile(
        "import os\nos.memfd_create('hog')", None, "PermissionError", enclosed=True
    ),
    "memory hog in /dev/shm": Hostile(
        "for n in range(50):\n    open(f'/dev/shm/hostile-{n}', 'wb').write(b'x' * (20 << 20))",
        None, "No space left", enclosed=True,
    ),
    "memory hog in System V segments": Hostile(
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.shmget(0, 1 << 20, 0o1600) >= 0, ctypes.get_errno()", None, "AssertionError: 1", enclosed=True
    ),
    "fills its folder": Hostile(
        "for n in range(50):\n    open(f'f{n}', 'wb').write(b'x' * (20 << 20))", None, "No space left", enclosed=True
    ),
    "one endless file": Hostile("open('f', 'wb').write(b'x' * (65 << 20))", None, "File too large"),
    "endless output": Hostile("while True:\n    print('spam' * 1000)", Reason.TIMEOUT, seconds=2.0),
    "endless recursion": Hostile(
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self):\n        return repr(self)\n"
        "repr(A())",
        Reason.CRASH, "its stack overflowed",
    ),
    "a message that ends the process": Hostile(
        "class Nasty(Exception):\n    def __str__(self):\n        raise SystemExit(0)\nraise Nasty", None, "Nasty"
    ),
    "deletes its own files": Hostile("import os, shutil\nshutil.rmtree(os.path.dirname(__file__))", None),
    "forbids its own folder": Hostile("import os\nos.chmod('kernel', 0)\nos.chmod('.', 0)", None),
    "closes every descriptor": Hostile("import os\nos.closerange(0, 4096)", Reason.JUDGE_TAMPERING, "closed its conn"),
    "hangs up and lives on": Hostile(
        "import os, time\nfor n in range(3, 64):\n    try:\n        os.close(n)\n    except OSError:\n        pass\n"
        "time.sleep(60)",
        Reason.JUDGE_TAMPERING, "closed its connection",
    ),
    "answers what nobody asked": Hostile(
        "import json, os, socket, struct\nbody = json.dumps({'id': 'guess', 'loaded': True}).encode()\n"
        "for n in range(3, 64):\n    try:\n        socket.socket(fileno=os.dup(n)).sendall("
        "struct.pack('<IB', len(body), 0) + body)\n    except OSError:\n        pass",
        Reason.JUDGE_TAMPERING, "not asked",
    ),
    "says what is no message": Hostile(
        "import os, socket\nfor n in range(3, 64):\n    try:\n        wire = socket.socket(fileno=os.dup(n))\n"
        "        wire.sendall(b'?' * 99)\n    except OSError:\n        pass",
        Reason.JUDGE_TAMPERING,
    ),
    "stops itself": Hostile("import os\nos.kill(os.getpid(), 19)", Reason.CRASH, "stopped itself (SIGSTOP)"),
    "kills itself": Hostile("import os\nos.kill(os.getpid(), 9)", Reason.CRASH, "SIGKILL"),
    "kills its parent": Hostile("import os\nfor n in (9, 15, 19):\n    os.kill(os.getppid(), n)", None, enclosed=True),
    "kills everyone": Hostile(
        "import os\nfor n in (9, 15, 19):\n    os.kill(-1, n)", None, "No such process", enclosed=True
    ),
    "leaves a daemon behind": Hostile(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n"
        "    os._exit(0)",
        None,
    ),
}  # fmt: skip


def left_behind(zygote: int, seconds: float = 10.0) -> list[int]:
    """Return what still runs below a zygote, after waiting a while for it to end."""
    end = time.monotonic() + seconds
    while (pids := [pid for pid in below(zygote) if state(pid) not in ("", "Z")]) and time.monotonic() < end:
        time.sleep(0.02)
    return pids


def shared_memory() -> set[str]:
    """Return the names in this host's shared memory that hostile kernels give."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("hostile-")}
