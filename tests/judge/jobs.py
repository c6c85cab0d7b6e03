"""What the tests have run by a server for user code: everything that such code may do wrong."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path


def run(argument):
    what = argument["what"]
    if what == "count":
        for number in range(argument["times"]):
            yield {"number": number}
    elif what == "say":
        yield {"text": "x" * argument["size"]}
    elif what == "print":
        print('{"yielded": {"forged": 1}}', flush=True)
        os.system("echo '{\"finished\": true}'")
        yield {"printed": True}
    elif what == "leave":
        os._exit(0)
    elif what == "leave with 3":
        os._exit(3)
    elif what == "crash":
        ctypes.string_at(0)  # crash
    elif what == "abort":
        os.abort()
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "loop":
        while True:  # loop
            pass
    elif what == "loop in C":
        pow(7, 10**8, 10**40_000_000)
    elif what == "sleep and ignore signals":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGRTMIN):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(1000)
    elif what == "grow":
        kept = []
        while True:
            kept.append(bytearray(os.urandom(1)) * (8 << 20))
    elif what == "fork and leave":
        if (pid := os.fork()) == 0:
            os.setsid()
            time.sleep(1000)
        Path(argument["note"]).write_text(str(pid))
        os._exit(1)
    elif what == "raise":
        raise ValueError("ours")
    elif what == "pid then sleep":
        yield {"pid": os.getpid()}
        time.sleep(1000)
