"""What becomes of candidates that crash, hang, grow, print or leave children behind. The kernels are hostile."""

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest
import torch

from kernelarena.judge.arena import POISONS, InputArena, OutputArena
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import CandidateEnded, Session, remove_abandoned, write_files
from kernelarena.spec import Reason


@pytest.fixture
def call(interpreting, kernel, platforms):
    """Loads a kernel's source, calls its entry with one tensor and returns the answer."""
    sessions = []

    def run(source, *, seconds=20.0, quota=None):
        subject = kernel(source)
        session = Session(interpreting, subject, quota)
        sessions.append(session)
        request = {
            "do": "load", "file": "kernel.py", "function": "entry", "id": "load",
            "platform": platforms["h100"].model_dump(mode="json"),
        }  # fmt: skip
        loaded = session.ask(request, 60)
        if "load-failed" in loaded:
            return loaded
        inputs, outputs = InputArena({"x": torch.ones(64, 64)}), OutputArena(64 * 64 * 4, POISONS[0])
        message = {
            "do": "call", "arguments": [argument.model_dump() for argument in inputs.arguments],
            "fences": inputs.fences, "returned": outputs.returned, "poison": POISONS[0], "inputs": 1, "id": "call",
        }  # fmt: skip
        try:
            return session.ask(message, seconds, [inputs.memory.descriptor, outputs.memory.descriptor])
        finally:
            inputs.close()
            outputs.close()

    run.sessions = sessions
    yield run
    for session in sessions:
        session.close()


ENDS = {
    "os._exit(0)": ("os._exit(0)", Reason.CRASH),
    "abort": ("os.abort()", Reason.CRASH),
    "segfault": ("ctypes.string_at(8)", Reason.ILLEGAL_ACCESS),
    "killed": ("os.kill(os.getpid(), 9)", Reason.OUT_OF_MEMORY),
    "closes its descriptors": ("os.closerange(0, 4096)", Reason.CRASH),
}


@pytest.mark.parametrize(("line", "reason"), ENDS.values(), ids=ENDS)
def test_how_a_candidate_ends_is_named(call, line, reason):
    with pytest.raises(CandidateEnded) as caught:
        call(f"import ctypes, os\ndef entry(x):\n    {line}\n")
    assert caught.value.reason is reason


def test_a_stack_overflow_costs_only_its_own_process(call):
    source = "import sys\ndef f(n):\n    return f(n + 1)\ndef entry(x):\n    sys.setrecursionlimit(10**9)\n    f(0)\n"
    with contextlib.suppress(CandidateEnded):
        assert {"RecursionError", "MemoryError"} & set(call(source)["failed"]["types"])
    assert "outputs" in call("def entry(x):\n    return x + 1\n")


def test_a_segfault_is_located(call):
    with pytest.raises(CandidateEnded) as caught:
        call("import ctypes\n\ndef entry(x):\n    y = x\n    ctypes.string_at(8)\n    return y\n")
    assert (caught.value.location.file, caught.value.location.line) == ("kernel.py", 5)


def test_an_endless_loop_is_ended_and_located(call):
    started = time.monotonic()
    with pytest.raises(CandidateEnded) as caught:
        call("def entry(x):\n    n = 0\n    while True:\n        n += 1\n", seconds=1.0)
    assert caught.value.reason is Reason.TIMEOUT
    assert caught.value.location.line in (3, 4)
    assert time.monotonic() - started < 30


def test_a_process_that_stops_itself_times_out(call):
    with pytest.raises(CandidateEnded) as caught:
        call("import os, signal\ndef entry(x):\n    os.kill(os.getpid(), signal.SIGSTOP)\n", seconds=1.0)
    assert caught.value.reason is Reason.TIMEOUT


def test_memory_is_limited_from_outside(call):
    source = "import time\ndef entry(x):\n    hog = b'x' * (700 << 20)\n    time.sleep(60)\n"
    with pytest.raises(CandidateEnded) as caught:
        call(source, quota=Quota(resident=600 << 20))
    assert caught.value.reason is Reason.OUT_OF_MEMORY
    assert "MiB" in caught.value.detail


def test_memory_is_limited_from_inside(call):
    answer = call("import numpy\ndef entry(x):\n    return numpy.ones(1 << 40)\n")
    assert "MemoryError" in " ".join(answer["failed"]["types"])


def test_the_log_is_kept_but_not_without_end(call):
    answer = call("def entry(x):\n    print('last words')\n    return x.clone()\n")
    assert "outputs" in answer
    assert "last words" not in answer
    with contextlib.suppress(CandidateEnded):
        answer = call("import os\ndef entry(x):\n    while True:\n        os.write(2, b'spam' * 10000)\n")
        assert answer["failed"]["types"][0] == "OSError"
    assert len(call.sessions[-1].log()) <= 1 << 16


def test_the_log_shows_the_kernels_frames_and_no_path_of_this_host(call):
    answer = call("def inner():\n    raise ValueError('odd')\n\ndef entry(x):\n    inner()\n")
    assert answer["failed"]["types"] == ["ValueError"]
    log = call.sessions[-1].log()
    assert 'File "kernel.py", line 2, in inner' in log
    assert "candidate.py" not in log
    assert "/kernel/" not in log


def test_an_exception_that_cannot_be_shown_is_still_told(call):
    source = """
    class Nasty(Exception):
        def __str__(self):
            raise SystemExit(0)
    def entry(x):
        raise Nasty
    """
    assert call(source)["failed"]["types"] == ["Nasty"]


def test_children_end_with_the_candidate(call, tmp_path):
    marker = tmp_path / "alive"
    source = f"""
    import os, time
    def entry(x):
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    while True:
                        open({str(marker)!r}, "a").write(str(os.getpid()) + chr(10))
                        time.sleep(0.05)
                os._exit(0)
        time.sleep(0.5)
        os._exit(1)
    """
    with pytest.raises(CandidateEnded):
        call(source)
    time.sleep(1.0)
    pids = {int(word) for word in marker.read_text().split()}
    assert pids
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_the_scratch_folder_is_thrown_away(call):
    call("def entry(x):\n    open('left.txt', 'w').write('x')\n    return x.clone()\n")
    folder = call.sessions[-1].folder.parent
    assert (folder / "left.txt").exists()
    call.sessions[-1].close()
    assert not folder.exists()


def test_what_a_killed_judge_left_is_removed_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = subprocess.Popen(["true"])
    dead.wait()
    kept = {f"kab-mc-{os.getpid()}-def", f"kab-mc-{dead.pid}-new", "kab-mc-other", "elsewhere"}
    for name in (f"kab-mc-{dead.pid}-old", *kept):
        (tmp_path / name / "kernel").mkdir(parents=True)
        if not name.endswith("new"):
            os.utime(tmp_path / name, (0, 0))
    remove_abandoned()
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_nothing_of_the_users_environment_reaches_a_kernel(call, monkeypatch):
    monkeypatch.setenv("MY_SECRET_TOKEN", "hunter2")
    source = "import os\ndef entry(x):\n    raise RuntimeError(' '.join(sorted(os.environ)))\n"
    message = call(source)["failed"]["message"]
    assert "MY_SECRET_TOKEN" not in message
    assert "PATH" in message


def test_the_next_candidate_is_not_harmed_by_the_last(call):
    with pytest.raises(CandidateEnded):
        call("import os\ndef entry(x):\n    os.kill(os.getppid(), 0)\n    os._exit(7)\n")
    assert "outputs" in call("def entry(x):\n    return x + 1\n")


def test_files_cannot_leave_the_kernels_folder(kernel, tmp_path):
    bad = kernel("").model_copy(update={"files": {"../outside.py": "x"}})
    with pytest.raises(ValueError, match="leads out"):
        write_files(bad, tmp_path / "kernel")
    assert os.listdir(tmp_path) in ([], ["kernel"])
