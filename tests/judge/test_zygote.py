"""Zygotes that are stopped, killed or starved of isolation; each of these tests has one of its own."""

import os
import signal
import subprocess
import time

import pytest

from kernelarena.errors import InputError
from kernelarena.judge import scratch
from kernelarena.judge.enclosure import SWITCH, Layer
from kernelarena.judge.scratch import remove_abandoned
from kernelarena.judge.session import CandidateEnded, Session
from kernelarena.judge.zygote import Mode, Zygote, ZygoteLost
from kernelarena.spec import Reason
from tests.judge.hostile import KERNELS, SMALL, left_behind

HONEST = "def entry(x):\n    return x\n"


@pytest.fixture
def request_to_load(platforms):
    platform = platforms["h100"].model_dump(mode="json")
    return {"do": "load", "file": "kernel.py", "function": "entry", "platform": platform}


@pytest.fixture
def zygote():
    zygote = Zygote(Mode.COMPILE)
    yield zygote
    zygote.close()


def test_one_that_is_stopped_or_killed_is_replaced_and_what_it_was_at_is_no_fault_of_a_kernel(
    zygote, kernel, request_to_load
):
    first = zygote.pid
    os.kill(first, signal.SIGSTOP)
    started = time.monotonic()
    with Session(zygote, kernel(HONEST), SMALL) as session:
        assert session.ask(request_to_load, 20)["loaded"]
    second = zygote.pid
    assert second != first
    assert time.monotonic() - started < 90, "most of it is the start of another"
    with Session(zygote, kernel("while True:\n    pass\n"), SMALL) as session:
        conversation = session.stream({"do": "load", "file": "kernel.py", "function": "entry"}, 60)
        os.kill(zygote.pid, signal.SIGKILL)
        started = time.monotonic()
        with pytest.raises(ZygoteLost):
            next(conversation)
        assert time.monotonic() - started < 30
    with Session(zygote, kernel(HONEST), SMALL) as session:
        assert session.ask(request_to_load, 20)["loaded"]
    assert zygote.pid != second


def test_one_that_does_not_start_says_why(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise RuntimeError('this torch is broken')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ZygoteLost, match="this torch is broken"):
        Zygote(Mode.COMPILE)


def test_a_switch_that_names_no_layer_is_the_users_mistake(monkeypatch):
    monkeypatch.setenv(SWITCH, "processs")
    with pytest.raises(InputError, match="did you mean 'processes'"):
        Zygote(Mode.COMPILE)


REFUSED = """
import os, socket
tried = []
for act in (lambda: os.kill(os.getppid(), 0), lambda: os.kill(1, 0), lambda: os.kill(-1, 0), socket.socket):
    try:
        act()
        tried.append(act)
    except PermissionError:
        pass
os.kill(os.getpid(), 0)
socket.socketpair()
assert not tried
"""
"""What the filter of system calls refuses where no namespace does."""
WITHOUT = {
    "everything": ("all", set(Layer), ""),
    "a file system of its own": ("files,bubblewrap", {Layer.FILES, Layer.PROC}, ""),
    "namespaces": (
        "user,processes,files,network,memory,host,bubblewrap",
        {Layer.USER, Layer.PROCESSES, Layer.FILES, Layer.NETWORK, Layer.MEMORY, Layer.HOST, Layer.PROC},
        REFUSED,
    ),
}


@pytest.mark.parametrize(("off", "missing", "source"), WITHOUT.values(), ids=WITHOUT)
def test_what_cannot_be_had_is_named_and_done_without(monkeypatch, kernel, request_to_load, off, missing, source):
    monkeypatch.setenv(SWITCH, off)
    zygote = Zygote(Mode.COMPILE)
    try:
        assert missing <= set(zygote.isolation.missing)
        assert all("(" in words for words in zygote.isolation.words)
        for name in ("segfault", "exits as if all were well", "stops itself", "forbids its own folder", "fork bomb"):
            hostile = KERNELS[name]
            with Session(zygote, kernel(f"{hostile.source}\n{HONEST}"), SMALL) as session:
                try:
                    session.ask(request_to_load, 20)
                    reason = None
                except CandidateEnded as ended:
                    reason = ended.reason
            assert reason is hostile.reason, name
        with Session(zygote, kernel(source + HONEST), SMALL) as session:
            assert "loaded" in session.ask(request_to_load, 20)
        with Session(zygote, kernel(f"{KERNELS['leaves a daemon behind'].source}\n{HONEST}"), SMALL) as session:
            assert session.ask(request_to_load, 20)["loaded"]
            folder = session.folder.parent
            assert str(folder).startswith("/tmp/kab-mc-")
            session.close(wait=20.0)
        assert left_behind(zygote.pid) == []
        assert not folder.exists()
    finally:
        zygote.close()
    assert [name for name in os.listdir("/tmp") if name.startswith(f"{scratch.PREFIX}{zygote.pid}-")] == []


def test_bubblewrap_stands_in_for_what_a_host_does_not_let_us_do(monkeypatch, kernel, request_to_load):
    if subprocess.run(["sh", "-c", "bwrap --unshare-all --ro-bind / / true"], capture_output=True).returncode:
        pytest.skip("bubblewrap is not installed, or not allowed to work")
    monkeypatch.setenv(SWITCH, "user,files")
    zygote = Zygote(Mode.COMPILE)
    source = """
import os
assert not os.path.exists("/home"), os.listdir("/")
assert len([name for name in os.listdir("/proc") if name.isdigit()]) < 8
try:
    open("/usr/planted", "w")
    raise AssertionError
except OSError:
    pass
"""
    try:
        assert zygote.isolation.shared
        assert all("bubblewrap" in words for words in zygote.isolation.words)
        with Session(zygote, kernel(source + HONEST), SMALL) as session:
            assert "loaded" in session.ask(request_to_load, 20)
        with Session(zygote, kernel(KERNELS["segfault"].source), SMALL) as session:
            with pytest.raises(CandidateEnded) as caught:
                session.ask(request_to_load, 20)
            assert caught.value.reason is Reason.ILLEGAL_ACCESS
    finally:
        zygote.close()


def test_what_a_killed_zygote_left_is_removed_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = subprocess.Popen(["true"])
    dead.wait()
    kept = {f"kab-mc-{os.getpid()}-def", f"kab-mc-{dead.pid}-new", "kab-mc-other", "elsewhere"}
    for name in (f"kab-mc-{dead.pid}-old", *kept):
        (tmp_path / name / "kernel").mkdir(parents=True)
        if not name.endswith("new"):
            os.utime(tmp_path / name, (0, 0))
    (tmp_path / f"kab-mc-{dead.pid}-old" / "kernel").chmod(0)
    remove_abandoned()
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_folders_that_a_kernel_has_locked_are_unlocked_and_what_its_links_lead_to_is_left_alone(tmp_path):
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir(mode=0o755)
    (tree / "locked" / "inner").mkdir(parents=True)
    (tree / "link").symlink_to(outside)
    (tree / "locked" / "inner").chmod(0)
    (tree / "locked").chmod(0)
    scratch.unlock(str(tree))
    assert [path.stat().st_mode & 0o777 for path in (tree, tree / "locked", tree / "locked" / "inner")] == [0o700] * 3
    assert outside.stat().st_mode & 0o777 == 0o755
