"""What takes too long is interrupted where it is, and nowhere else."""

import contextlib
import subprocess
import sys
import threading
import time

import pytest

from kernelarena.judge import overdue
from kernelarena.judge.enclosure.population import state
from kernelarena.judge.overdue import Overdue, limited


@pytest.fixture(autouse=True, scope="module")
def watchful():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overdue, "_LOOK_S", 0.01)
        patch.setattr(overdue, "_ARRIVAL_S", 0.05)
        with limited(60, "a watcher that was here before sleeps no longer than this"):
            time.sleep(1.1)
        yield


def _spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_it_is_raised_in_what_takes_too_long_and_only_there():
    for _ in range(20):
        with pytest.raises(Overdue), limited(0.02, "a"):
            _spin(30)
        _spin(0.03)


def test_what_is_done_in_time_is_left_alone():
    for _ in range(200):
        with limited(0.05, "a"):
            pass
    _spin(0.2)
    assert overdue._calls == {}


def test_what_ends_just_when_its_time_is_up_is_told_so_within():
    """The exception may be on its way when the block ends: it arrives before anything else is done, or never."""
    for step in range(200):
        with contextlib.suppress(Overdue), limited(0.02, "a"):
            _spin(0.015 + step / 200 * 0.02)
        _spin(0.001)
    assert overdue._calls == {}


def test_whoever_catches_it_is_late_all_the_same():
    with pytest.raises(Overdue), limited(0.02, "a"), contextlib.suppress(BaseException):
        _spin(30)


def test_each_thread_has_its_own_time_and_an_outer_limit_comes_back():
    other = []

    def run():
        with limited(30, "other"):
            _spin(0.2)
        other.append("done")

    thread = threading.Thread(target=run)
    thread.start()

    def nested():
        with limited(30, "inner"):
            pass
        _spin(30)

    with pytest.raises(Overdue), limited(0.1, "outer"):
        nested()
    thread.join()
    assert other == ["done"]


def test_what_takes_no_notice_is_ended_with_its_process_and_what_that_started():
    source = """
import ctypes, subprocess
from kernelarena.judge import overdue
print(subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid, flush=True)
overdue._LOOK_S = overdue.GRACE_S = 0.1
with overdue.limited(0.2, "lab/op/reference.py"):
    ctypes.CDLL(None).sleep(600)
"""
    process = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert process.returncode == overdue.EXIT_CODE
    assert process.stderr == "lab/op/reference.py: still running 0.1 s after its 0.2 s\n"
    end = time.monotonic() + 10  # what was killed may take a moment to go
    while (seen := state(int(process.stdout))) not in ("", "Z") and time.monotonic() < end:
        time.sleep(0.05)
    assert seen in ("", "Z"), "what it had started has ended with it"
