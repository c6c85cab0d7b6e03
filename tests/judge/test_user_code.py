"""A task's own code that hangs, crashes, grows or leaves: it is said in words, and the next job runs all the same."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kernelarena.judge.user_code import Ended, Server
from tests.processes import gone

MEMORY = 1 << 30


@pytest.fixture(scope="module")
def server():
    with Server("tests.judge.jobs:run") as server:
        yield server


def do(server, what, seconds=30.0, **more):
    return list(server.run({"what": what, **more}, seconds=seconds, memory=more.get("memory", MEMORY)))


def line_of(what):
    text = Path(__file__).with_name("jobs.py").read_text().splitlines()
    return next(number for number, line in enumerate(text, 1) if f"# {what}" in line)


def test_messages_come_in_order_and_the_job_ends(server):
    assert do(server, "count", times=3) == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert do(server, "count", times=0) == []


def test_a_large_message_arrives_whole(server):
    (message,) = do(server, "say", size=3_000_000)
    assert message == {"text": "x" * 3_000_000}


def test_what_a_job_prints_is_not_taken_for_a_message(server):
    assert do(server, "print") == [{"printed": True}]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("leave", "ended the process with exit code 0"),
        ("leave with 3", "ended the process with exit code 3"),
        ("crash", r"crashed \(SIGSEGV\)"),
        ("abort", r"crashed \(SIGABRT\)"),
        ("kill", r"crashed \(SIGKILL\)"),
    ],
)
def test_how_a_job_ended_is_said(server, what, words):
    with pytest.raises(Ended, match=f"^{words}$"):
        do(server, what)
    assert do(server, "count", times=1) == [{"number": 0}]


@pytest.mark.parametrize("what", ["loop", "loop in C", "sleep and ignore signals"])
def test_a_job_that_does_not_end_is_ended(server, what):
    started = time.monotonic()
    with pytest.raises(Ended, match="did not finish within 1 s"):
        do(server, what, seconds=1.0)
    assert time.monotonic() - started < 30
    assert do(server, "count", times=1) == [{"number": 0}]


def test_the_line_is_named(server):
    for what in ("loop", "crash"):
        with pytest.raises(Ended) as caught:
            do(server, what, seconds=2.0)
        here = [line for file, line in caught.value.stack if file.endswith("jobs.py")]
        assert here[0] in (line_of(what), line_of(what) + 1), caught.value.stack  # a loop goes over two lines


def test_a_job_that_grows_is_ended(server):
    with pytest.raises(Ended, match="used more than the 256 MiB of memory"):
        do(server, "grow", memory=256 << 20)
    assert do(server, "count", times=1) == [{"number": 0}]


def test_nothing_that_a_job_started_stays(server, tmp_path):
    note = tmp_path / "pid"
    with pytest.raises(Ended):
        do(server, "fork and leave", note=str(note))
    assert gone(int(note.read_text()))


def test_an_exception_of_our_own_is_a_bug_and_no_fault_of_the_users(server):
    with pytest.raises(RuntimeError, match="ValueError: ours"):
        do(server, "raise")
    assert do(server, "count", times=1) == [{"number": 0}]


def test_closing_ends_everything():
    server = Server("tests.judge.jobs:run")
    pid = server._process.pid
    job = server.run({"what": "pid then sleep"}, seconds=60, memory=MEMORY)
    child = next(job)["pid"]
    server.close()
    assert gone(pid)
    assert gone(child)


def test_a_server_that_does_not_start_says_so():
    with Server("tests.judge.no_such_module:run") as server, pytest.raises(RuntimeError, match="did not start"):
        do(server, "count", times=1)
