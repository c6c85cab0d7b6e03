"""Ends what an embedded Ray leaves behind when its driver is killed. Run as a script, in a session of its own.

Ray's daemons die with the driver, but its agents take minutes to notice, and a worker's own children may outlive it.
This process reads the pids of Ray's daemons from its standard input, remembers all their descendants, and kills what
is left of them when the input ends, which the death of the driver brings about, however it dies. Standard library
only: it must start in a moment and cost nothing.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

POLL_S = 1.0
GRACE_S = 10.0
"""How long to look for stragglers."""


def table() -> dict[int, tuple[int, int]]:
    """Return every live process: parent and start time by pid. The start time tells a reused pid from the old one."""
    found: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name before it may hold anything
            if fields[0] != b"Z":
                found[int(name)] = int(fields[1]), int(fields[19])
    return found


def descendants(roots: dict[int, int], processes: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Return those of ``roots`` (start time by pid) that live, and all that descend from them."""
    family = {pid: start for pid, start in roots.items() if pid in processes and processes[pid][1] == start}
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    waiting = list(family)
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in family:
                family[pid] = processes[pid][1]
                waiting.append(pid)
    return family


def main() -> None:
    """Watch until standard input ends, then kill until nothing is left."""
    family: dict[int, int] = {}
    pending = b""
    while True:
        if select.select([0], [], [], POLL_S)[0]:
            data = os.read(0, 4096)
            if not data:
                break
            *lines, pending = (pending + data).split(b"\n")
            processes = table()
            family.update({int(line): processes[int(line)][1] for line in lines if int(line) in processes})
        family = descendants(family, table())
    end = time.monotonic() + GRACE_S
    while (family := descendants(family, table())) and time.monotonic() < end:
        for pid in family:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    sys.exit(1 if family else 0)


if __name__ == "__main__":
    main()
