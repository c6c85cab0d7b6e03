import contextlib
import ctypes
import os
import signal

import work

_libc = ctypes.CDLL(None)


def add(x, y, alpha):
    z = work.add(x, y, alpha)
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), signal.SIGSTOP)
    _libc.kill(os.getppid(), signal.SIGSTOP)
    return z
