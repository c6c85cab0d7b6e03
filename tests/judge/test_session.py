"""What becomes of candidates that crash, hang, grow, print or leave children behind. The kernels are hostile."""

import contextlib
import time
from pathlib import Path

import pytest
import torch

from kernelarena.judge.arena import POISONS, InputArena, OutputArena
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import CandidateEnded, Session, locate
from kernelarena.spec import Kernel, Reason
from tests.judge.hostile import left_behind


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


def test_a_stack_overflow_costs_only_its_own_process(call):
    source = "import sys\ndef f(n):\n    return f(n + 1)\ndef entry(x):\n    sys.setrecursionlimit(10**9)\n    f(0)\n"
    with contextlib.suppress(CandidateEnded):
        answer = call(source, quota=Quota(resident=300 << 20))
        assert {"RecursionError", "MemoryError"} & set(answer["failed"]["types"])
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


def test_memory_is_limited_from_inside(call):
    answer = call("import numpy\ndef entry(x):\n    return numpy.ones(1 << 40)\n")
    assert "MemoryError" in " ".join(answer["failed"]["types"])


def test_the_log_shows_the_kernels_frames_and_no_path_of_this_host(call):
    answer = call("def inner():\n    raise ValueError('odd')\n\ndef entry(x):\n    inner()\n")
    assert answer["failed"]["types"] == ["ValueError"]
    log = call.sessions[-1].log()
    assert 'File "kernel.py", line 2, in inner' in log
    assert "candidate.py" not in log
    assert "/kernel/" not in log


def test_nothing_of_the_users_environment_reaches_a_kernel(call, monkeypatch):
    monkeypatch.setenv("MY_SECRET_TOKEN", "hunter2")
    source = "import os\ndef entry(x):\n    raise RuntimeError(' '.join(sorted(os.environ)))\n"
    message = call(source)["failed"]["message"]
    assert "MY_SECRET_TOKEN" not in message
    assert "PATH" in message


def test_children_end_with_the_candidate(call, interpreting):
    source = """
    import os, time
    def entry(x):
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(600)
                os._exit(0)
        time.sleep(0.3)
        os._exit(1)
    """
    with pytest.raises(CandidateEnded):
        call(source)
    assert left_behind(interpreting.pid) == []


def test_closing_can_wait_until_everything_is_gone(call, interpreting):
    call("import os, time\ndef entry(x):\n    if os.fork() == 0:\n        time.sleep(600)\n    return x.clone()\n")
    call.sessions[-1].close(wait=20.0)
    assert left_behind(interpreting.pid, seconds=0) == []


def test_every_candidate_works_in_the_same_place_and_finds_nothing_of_the_last(call):
    source = "import os\ndef entry(x):\n    raise RuntimeError(os.getcwd() + ' ' + ' '.join(sorted(os.listdir('.'))))\n"
    first = call(source)["failed"]["message"]
    call("def entry(x):\n    for f in ('left.txt', '/tmp/left.txt'):\n        open(f, 'w').write('x')\n    return x\n")
    assert call(source)["failed"]["message"] == first
    assert "left.txt" not in first
    assert not Path("/tmp/left.txt").exists()


@pytest.fixture
def request_to_load(platforms):
    platform = platforms["h100"].model_dump(mode="json")
    return {"do": "load", "file": "kernel.py", "function": "entry", "platform": platform}


def test_an_answer_must_be_to_the_question_that_was_asked(interpreting, kernel, request_to_load):
    with Session(interpreting, kernel("def entry(x):\n    return x\n")) as session:
        assert session.ask(request_to_load, 20)["loaded"]
        assert session.ask({**request_to_load, "id": "mine"}, 20)["id"] == "mine"


@pytest.mark.parametrize("name", ["../outside.py", "/etc/passwd", "a/../../b.py", "."])
def test_files_cannot_leave_the_kernels_folder(interpreting, kernel, name):
    with pytest.raises(ValueError, match="leads out"):
        Session(interpreting, kernel("").model_copy(update={"files": {name: "x"}}))


def test_files_of_a_kernel_lie_where_they_belong(interpreting, kernel, request_to_load):
    files = {"kernel.py": "from parts.inner import entry\n", "parts/inner.py": "def entry(x):\n    return x\n"}
    with Session(interpreting, kernel("").model_copy(update={"files": files})) as session:
        assert session.ask(request_to_load, 20)["loaded"]


def test_places_are_told_by_name_and_not_by_looking():
    """The folder is the candidate's: the judge has none at that path, or one with other things in it."""
    kernel = Kernel(
        id="k", task="softmax", language="triton", file="a.py", function="f", files={"a.py": "one\ntwo\n"}, origin="t"
    )
    folder = Path("/scratch/kernel")
    assert locate(kernel, folder, "/scratch/kernel/a.py", 2).text == "two"
    assert locate(kernel, folder, "/scratch/kernel/../kernel/a.py", 2).line == 2
    for path, line in (("/scratch/a.py", 1), ("a.py", 1), ("/scratch/kernel/b.py", 1), ("/scratch/kernel/a.py", 3)):
        assert locate(kernel, folder, path, line) is None
