"""Turns on a device: together, alone, in order, and let go of by whoever ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from contextlib import closing

import pytest

from kernelarena.errors import InfraError
from kernelarena.judge.turns import Turns

SHORT, LONG = 0.2, 20.0
"""Seconds in which something must not happen, and in which it must."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def turns():
    made = []

    def make(device="0000:01:00.0"):
        made.append(Turns(device))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Guest(threading.Thread):
    """Somebody who comes to the device, stays until told to go, and may want to be alone there."""

    def __init__(self, turns: Turns, *, alone: bool = False) -> None:
        super().__init__(daemon=True)
        self._turns, self._alone = turns, alone
        self.there, self.go = threading.Event(), threading.Event()
        self.start()

    def run(self):
        with self._turns.together():
            if self._alone:
                with self._turns.alone():
                    self._stay()
            else:
                self._stay()

    def _stay(self):
        self.there.set()
        self.go.wait(LONG)

    def leave(self):
        self.go.set()
        self.join(LONG)
        assert not self.is_alive()


def test_several_are_there_together(turns):
    guests = [Guest(turns()) for _ in range(3)]
    assert all(guest.there.wait(LONG) for guest in guests)
    for guest in guests:
        guest.leave()


def test_whoever_is_alone_waits_for_the_others_and_they_for_him(turns):
    early = Guest(turns())
    assert early.there.wait(LONG)
    alone = Guest(turns(), alone=True)
    assert not alone.there.wait(SHORT)
    early.leave()
    assert alone.there.wait(LONG)
    late = Guest(turns())
    assert not late.there.wait(SHORT)
    alone.go.set()  # and goes on beside others
    assert late.there.wait(LONG)
    late.leave()
    alone.leave()


def test_nobody_overtakes_whoever_waits_to_be_alone(turns):
    early = Guest(turns())
    assert early.there.wait(LONG)
    alone = Guest(turns(), alone=True)
    assert not alone.there.wait(SHORT)
    late = Guest(turns())
    assert not late.there.wait(SHORT)  # though only one who would share is there
    early.leave()
    assert alone.there.wait(LONG)
    assert not late.there.is_set()
    alone.leave()
    late.leave()


def test_two_who_want_to_be_alone_do_not_wait_for_each_other_for_ever(turns):
    one, other = turns(), turns()
    with one.together(), other.together():
        guests = [Guest(turns(), alone=True) for _ in range(2)]
    for guest in guests:
        guest.go.set()
    assert all(guest.there.wait(LONG) for guest in guests)
    for guest in guests:
        guest.leave()


def test_devices_have_nothing_to_do_with_each_other(turns):
    one, other = Guest(turns("one"), alone=True), Guest(turns("an/other"), alone=True)
    assert one.there.wait(LONG)
    assert other.there.wait(LONG)
    one.leave()
    other.leave()


_HOLDER = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from kernelarena.judge.turns import Turns
turns = Turns("0000:01:00.0")
with turns.together(), turns.alone():
    print("there", flush=True)
    time.sleep(600)
"""


def test_whoever_is_killed_lets_go(turns, folder):
    with subprocess.Popen([sys.executable, "-c", _HOLDER, str(folder)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "there\n"
        guest = Guest(turns())
        assert not guest.there.wait(SHORT)
        holder.kill()
        assert guest.there.wait(LONG)
        guest.leave()


def test_an_error_lets_go_too(turns):
    mine = turns()
    with pytest.raises(ValueError, match="mine"), mine.together(), mine.alone():
        raise ValueError("mine")
    guest = Guest(turns(), alone=True)
    assert guest.there.wait(LONG)
    guest.leave()


@pytest.mark.parametrize("what", ["link", "file"])
def test_a_place_that_somebody_else_has_prepared_is_refused(tmp_path, monkeypatch, what):
    monkeypatch.setattr("kernelarena.judge.turns.os.geteuid", lambda: 7)
    place = tmp_path / "kernelarena-7"
    if what == "link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.touch()
    with pytest.raises(InfraError, match="kernelarena-7"), closing(Turns("x")):
        pass
