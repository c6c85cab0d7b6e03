import os
import signal
import subprocess
import sys
import time

import pytest

from kernelarena.cluster import watchdog

_PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(600)
"""


def _alive(pid):
    return pid in watchdog.table()


def _gone(pids, within=15):
    end = time.monotonic() + within
    while any(map(_alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(_alive, pids))


def test_the_table_knows_parents_and_forgets_the_dead():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    assert watchdog.table()[child.pid][0] == os.getpid()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, but not yet reaped
    assert not _alive(child.pid), "a zombie counts as dead"
    child.wait()


def test_descendants_follow_parents_and_ignore_reused_pids():
    processes = {10: (1, 100), 11: (10, 101), 12: (11, 102), 13: (1, 103), 14: (1, 104)}
    assert watchdog.descendants({10: 100}, processes) == {10: 100, 11: 101, 12: 102}
    assert watchdog.descendants({10: 99}, processes) == {}
    assert watchdog.descendants({12: 102, 99: 1}, processes) == {12: 102}
    assert watchdog.descendants({}, processes) == {}


@pytest.fixture
def family():
    """A process with a child that has left its session."""
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    yield parent, child
    for pid in (parent.pid, child):
        if _alive(pid):
            os.kill(pid, signal.SIGKILL)
    parent.wait()


def _guard(*roots):
    guard = subprocess.Popen([sys.executable, "-I", "-S", watchdog.__file__], stdin=subprocess.PIPE)
    guard.stdin.write(b"".join(b"%d\n" % pid for pid in roots))
    guard.stdin.flush()
    return guard


def test_all_that_is_left_goes_when_the_input_ends(family):
    parent, child = family
    guard = _guard(parent.pid)
    time.sleep(0.5)
    assert _alive(child)
    guard.stdin.close()
    assert guard.wait(20) == 0
    assert _gone([child])
    assert parent.wait(5) == -signal.SIGKILL


def test_orphans_are_remembered(family):
    parent, child = family
    guard = _guard(parent.pid)
    time.sleep(2 * watchdog.POLL_S + 0.5)  # seen as a child, before it is one of nobody's
    parent.kill()
    parent.wait()
    assert _alive(child)
    guard.stdin.close()
    assert guard.wait(20) == 0
    assert _gone([child])


def test_nothing_else_is_touched(family):
    _, child = family
    guard = _guard()
    guard.stdin.close()
    assert guard.wait(20) == 0
    assert _alive(child)
