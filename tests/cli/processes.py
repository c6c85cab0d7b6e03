"""Waiting for a process, and for all that it started."""

import time

from kernelarena.cluster import watchdog


def until(condition, process, within=90):
    end = time.monotonic() + within
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def family(process):
    """Return the processes below one, by pid and start time."""
    processes = watchdog.table()
    return watchdog.descendants({process.pid: processes[process.pid][1]}, processes)


def all_gone(processes, within=30):
    end = time.monotonic() + within
    while (left := watchdog.descendants(processes, watchdog.table())) and time.monotonic() < end:
        time.sleep(0.05)
    return not left
