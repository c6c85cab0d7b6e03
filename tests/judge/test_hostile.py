"""Hostile processes: each costs its own cell, is named by a reason, and leaves nothing behind."""

import os
import time

import pytest

from kernelarena.judge import Judge
from kernelarena.judge.session import CandidateEnded, Session
from kernelarena.spec import Reason, Status
from tests.judge.hostile import KERNELS, SMALL, left_behind, shared_memory
from tests.judge.test_judge import ADD_ONE, PREAMBLE
from tests.judge.test_judge import SMALL as SWEEP

HONEST = "def entry(x):\n    return x\n"


@pytest.fixture
def load(interpreting, kernel, platforms):
    """Has a candidate import a source; returns its answer and what it printed."""

    def run(source, *, seconds=20.0, quota=SMALL, zygote=interpreting):
        with Session(zygote, kernel(f"{source}\n{HONEST}"), quota) as session:
            platform = platforms["h100"].model_dump(mode="json")
            request = {"do": "load", "file": "kernel.py", "function": "entry", "platform": platform}
            try:
                return session.ask(request, seconds), session.log()
            except CandidateEnded as ended:
                ended.log = session.log()
                raise

    return run


@pytest.fixture(autouse=True)
def nothing_is_left(interpreting):
    """Holds every test of this file to it: no process, no file on the host, no segment of shared memory."""
    here, folder, segments = set(os.listdir("/tmp")), set(os.listdir("/")), shared_memory()
    yield
    assert left_behind(interpreting.pid) == []
    assert shared_memory() == segments
    assert set(os.listdir("/")) == folder
    assert not {name for name in set(os.listdir("/tmp")) - here if name.startswith(f"kab-mc-{interpreting.pid}")}


@pytest.mark.parametrize("name", KERNELS)
def test_a_hostile_kernel_is_named_and_the_next_one_is_judged(load, interpreting, name):
    hostile = KERNELS[name]
    if hostile.enclosed and interpreting.isolation.missing:
        pytest.skip(f"this host lacks layers: {', '.join(interpreting.isolation.words)}")
    if hostile.reason is None:
        answer, _ = load(hostile.source, seconds=hostile.seconds)
        assert hostile.said in answer.get("load-failed", {}).get("message", "")
    else:
        with pytest.raises(CandidateEnded) as caught:
            load(hostile.source, seconds=hostile.seconds)
        assert caught.value.reason is hostile.reason, caught.value.detail
        assert hostile.said in caught.value.detail
        if hostile.line is not None:
            assert caught.value.location.line == hostile.line
    answer, _ = load("")
    assert answer["loaded"]


def test_two_gigabytes_on_standard_error_neither_end_an_honest_kernel_nor_fill_anything(load):
    source = (
        "import os\nblock = b'y' * (1 << 20)\nfor n in range(2048):\n    os.write(2, block)\nos.write(2, b'the end')"
    )
    answer, log = load(source, seconds=120)
    assert answer["loaded"]
    assert log.endswith("the end")
    assert len(log) <= 1 << 16


def test_what_a_killed_kernel_printed_last_is_kept(load):
    with pytest.raises(CandidateEnded) as caught:
        load("import os\nprint('last words')\nos.kill(os.getpid(), 9)")
    assert "last words" in caught.value.log


def test_children_that_answer_in_the_candidates_name_are_found_out(interpreting, kernel, platforms):
    """A fork of the candidate holds the same wire, and goes on to answer the same request."""
    request = {
        "do": "load", "file": "kernel.py", "function": "entry", "platform": platforms["h100"].model_dump(mode="json"),
    }  # fmt: skip
    with Session(interpreting, kernel(f"import os\nos.fork()\n{HONEST}"), SMALL) as session:
        session.ask(request, 20)
        time.sleep(1)
        with pytest.raises(CandidateEnded) as caught:
            session.ask(request, 20)
    assert caught.value.reason is Reason.JUDGE_TAMPERING


def test_a_kernel_that_reads_nothing_does_not_hold_the_judge_up(interpreting, kernel, platforms):
    request = {
        "do": "load", "file": "kernel.py", "function": "entry", "platform": platforms["h100"].model_dump(mode="json"),
    }  # fmt: skip
    with Session(interpreting, kernel("while True:\n    pass"), SMALL) as session:
        session._wire.send(request)  # and now it loops, and reads no more
        started = time.monotonic()
        with pytest.raises(CandidateEnded) as caught:
            session.ask({"do": "load", "padding": "x" * (4 << 20)}, 2.0)
        assert caught.value.reason is Reason.TIMEOUT
        assert time.monotonic() - started < 60


def test_files_that_a_kernel_sends_are_not_kept_open(load):
    before = len(os.listdir("/proc/self/fd"))
    source = """
import array, os, socket
for n in range(3, 64):
    try:
        wire = socket.socket(fileno=os.dup(n))
        for _ in range(200):
            wire.sendmsg([b"{"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]).tobytes())])
    except OSError:
        pass
"""
    with pytest.raises(CandidateEnded) as caught:
        load(source)
    assert caught.value.reason is Reason.JUDGE_TAMPERING
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_an_endless_answer_is_cut_off(load):
    source = """
import os, socket, struct
for n in range(3, 64):
    try:
        wire = socket.socket(fileno=os.dup(n))
        wire.sendall(struct.pack("<IB", 1 << 30, 0) + b" " * (1 << 20))
    except OSError:
        pass
"""
    with pytest.raises(CandidateEnded) as caught:
        load(source)
    assert caught.value.reason is Reason.JUDGE_TAMPERING


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


CELLS = {
    "segfault": ("import ctypes\n    ctypes.string_at(8)", Reason.ILLEGAL_ACCESS),
    "exit": ("import os\n    os._exit(0)", Reason.CRASH),
    "abort": ("import os\n    os.abort()", Reason.CRASH),
    "hang-up": ("import os\n    os.closerange(3, 64)", Reason.JUDGE_TAMPERING),
}


@pytest.mark.parametrize("platform", ["cpu", "h100"])
def test_the_end_of_a_process_has_one_name_on_every_gate_and_costs_one_cell(judge, kernel, platforms, platform):
    def verdict(line):
        subject = kernel(PREAMBLE, task="add_one")
        source = (
            subject.files["kernel.py"]
            + f"\ndef entry(x):\n    {line}\n    x = x.contiguous()\n    return run(x, torch.empty_like(x))\n"
        )
        subject = subject.model_copy(update={"files": {"kernel.py": source}})
        return judge.judge(subject, ADD_ONE, platforms[platform], SWEEP, hidden_seed=7)

    for name, (line, reason) in CELLS.items():
        bad = verdict(line)
        assert (bad.status, bad.reason) == (Status.FAIL, reason), f"{name}: {bad.detail}"
        assert bad.isolation is not None
    good = verdict("pass")
    assert good.status is Status.PASS, good.detail
