"""Memory of a device between two processes, and what can be said of it without one."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.device_memory import between
from kernelarena.platforms.virtual_memory import Calls, DriverError, Runtime


@pytest.mark.parametrize(
    ("fences", "stretches"),
    [
        ([], [(0, 100)]),
        ([(40, 10)], [(0, 40), (50, 50)]),
        ([(0, 10), (90, 10)], [(10, 80)]),
        ([(20, 10), (30, 10)], [(0, 20), (40, 60)]),
    ],
)
def test_memory_lies_between_fences(fences, stretches):
    assert between(100, fences) == stretches


LIBRARY = """
    #include <stddef.h>
    int tstMemCreate(unsigned long long *handle, size_t size, void *what, unsigned long long flags) {
        if (size > 4096) return 2;
        *handle = size;
        return 0;
    }
    int tstMemRelease(unsigned long long handle) { return 7; }
    int tstVersion(int *version) { *version = 60300000; return 0; }
    int newMemImportFromShareableHandle(unsigned long long *handle, void *given, int kind) {
        *handle = (unsigned long long)given;
        return 0;
    }
    int newVersion(int *version) { *version = 70100000; return 0; }
    int tstMemImportFromShareableHandle(unsigned long long *handle, void *given, int kind) {
        *handle = kind == 1 ? (unsigned long long)*(int *)given : 0;
        return 0;
    }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A driver that knows a few calls, to see how answers are read; it has no memory to give."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "driver.c").write_text(textwrap.dedent(LIBRARY))
    built = subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", "libdriver.so", "driver.c"], cwd=folder, capture_output=True, check=False
    )
    if built.returncode:
        pytest.skip("no C compiler")
    return str(folder / "libdriver.so")


def test_what_a_driver_answers_becomes_a_value_or_the_right_error(library):
    calls = Calls(Runtime(("libnothing.so", library), "tst"), 0)
    assert calls.create(4096) == 4096
    with pytest.raises(MemoryError):
        calls.create(8192)
    with pytest.raises(DriverError, match="tstMemRelease failed with status 7"):
        calls.release(1)
    with pytest.raises(DriverError, match="the driver has no tstMemAddressReserve"):
        calls.reserve(1)
    with pytest.raises(DriverError, match=r"does not load: .*libnothing\.so"):
        Calls(Runtime(("libnothing.so",), "tst"), 0)


def test_older_runtimes_take_the_address_of_a_descriptor(library):
    runtime = Runtime((library,), "tst", "Version", import_by_value_since=70100000)
    assert Calls(runtime, 0).take(42) == 42
    newer = Runtime((library,), "new", "Version", import_by_value_since=70100000)
    assert Calls(newer, 0).take(42) == 42


@pytest.fixture
def platform():
    """Of the first device that is here."""
    for platform in load().values():
        backend = backend_for(platform)
        if backend is not None and backend.present(platform):
            return platform
    return pytest.skip("no backend finds a device in this host")


OTHER_SIDE = """
    import os, socket, sys
    import torch
    from kernelarena.judge.wire import Wire
    from kernelarena.platforms.backend import backend_for
    from kernelarena.platforms.catalogue import load

    wire = Wire(socket.socket(fileno=int(sys.argv[1])))
    request, files = wire.receive_with_files()
    opened = backend_for(load()[request["platform"]]).open(0)
    window = opened.exchange().attach(files[0], ())
    inside = window.bytes[: request["inside"]]
    wire.send({"seen": inside[:4].tolist(), "size": window.bytes.numel()})
    inside.fill_(9)
    window.publish()
    wire.send({"done": True})
    request, _ = wire.receive_with_files()
    try:
        at = request["at"]
        (window.bytes[at : at + 4] + 1).sum().item()
        wire.send({"fault": ""})
    except RuntimeError as error:
        wire.send({"fault": str(error)})
    os._exit(0)
"""


@pytest.mark.gpu
@pytest.mark.parametrize("fenced", [True, False])
def test_another_process_sees_the_same_bytes_and_nothing_behind_a_fence(platform, fenced):
    from kernelarena.judge.wire import Wire

    wire, theirs = Wire.pair()
    with theirs:
        root = Path(__file__).resolve().parents[2]
        command = [sys.executable, "-c", textwrap.dedent(OTHER_SIDE), str(theirs.fileno())]
        other = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=root)
    exchange = backend_for(platform).open(0).exchange()
    assert exchange is not None
    page = exchange.page
    memory = exchange.allocate(3 * page, [(page, page)] if fenced else [])
    memory.bytes.fill_(5)
    memory.publish()
    wire.send({"platform": platform.id, "inside": page}, [memory.descriptor])
    assert wire.receive() == {"seen": [5] * 4, "size": 3 * page}
    assert wire.receive() == {"done": True}
    memory.fetch()
    assert memory.bytes[:page].unique().tolist() == [9]
    assert memory.bytes[page:].unique().tolist() == [5]
    wire.send({"at": page + 17})
    assert ("illegal memory access" in wire.receive()["fault"]) is fenced
    assert other.wait(30) == 0
    wire.close()
    assert memory.bytes[page - 1].item() == 9  # the other side's fault is its own
    memory.close()


@pytest.mark.gpu
def test_memory_goes_when_nobody_holds_it(platform):
    opened = backend_for(platform).open(0)
    exchange = opened.exchange()
    opened.trim()
    before, _ = opened.memory()
    for _ in range(50):
        memory = exchange.allocate(256 << 20, [(exchange.page, exchange.page)])
        memory.bytes.fill_(1)
        assert memory.descriptor >= 0
        memory.close()
        del memory
    opened.trim()
    assert before - opened.memory()[0] < 64 << 20


@pytest.mark.gpu
def test_more_than_there_is_is_refused(platform):
    opened = backend_for(platform).open(0)
    with pytest.raises(MemoryError):
        opened.exchange().allocate(opened.memory()[1] * 2)
    assert opened.exchange() is not None
