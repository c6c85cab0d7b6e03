"""Whether processes still run, as tests ask it of those that they ended."""

import time
from pathlib import Path


def lives(pid: int) -> bool:
    """Return whether a process runs; one that has ended stays in the table for as long as nobody waits for it.

    In a container whose first process waits for nothing but what it started, that is for ever.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def gone(pid: int, seconds: float = 10.0) -> bool:
    """Return whether a process has ended, after waiting for that for a while."""
    deadline = time.monotonic() + seconds
    while lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not lives(pid)
