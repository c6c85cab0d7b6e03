"""The end of what a process prints is kept, however much it is, and reading it never takes long."""

import contextlib
import os
import subprocess
import sys

import pytest

from kernelarena.judge.printed import Printed
from kernelarena.judge.session import Session


@pytest.fixture
def printed():
    printed = Printed()
    yield printed
    printed.close()


def test_what_was_printed_is_taken_in_piece_by_piece(printed):
    assert printed.text() == ""
    os.write(printed.writer, b"one\n")
    printed.drain()
    os.write(printed.writer, b"two\xff\n")
    printed.drain()
    printed.drain()
    assert printed.text() == "one\ntwo\N{REPLACEMENT CHARACTER}\n"
    assert printed.open
    os.close(printed.writer)
    printed.drain()
    assert not printed.open


def test_only_the_end_is_kept(printed):
    for number in range(20_000):
        os.write(printed.writer, b"%d\n" % number)
        if number % 5000 == 0:
            printed.drain()
    os.close(printed.writer)
    printed.drain()
    lines = printed.text().splitlines()
    assert 1000 < len(lines) < 20_000
    assert [int(line) for line in lines[1:]] == list(range(20_000 - len(lines) + 1, 20_000))


def test_it_says_whether_the_pipe_was_nearly_full(printed):
    os.write(printed.writer, b"a line\n")
    assert not printed.drain()
    os.set_blocking(printed.writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(printed.writer, b"x" * 4096)
    assert printed.drain()
    os.close(printed.writer)


def test_who_prints_without_end_does_not_keep_the_reader_for_ever(printed):
    source = "import os\nwhile True:\n    os.write(1, b'x' * 65536)"
    with subprocess.Popen([sys.executable, "-c", source], stdout=printed.writer) as process:
        os.close(printed.writer)
        try:
            for _ in range(20):
                printed.drain()
            assert printed.open
        finally:
            process.kill()


def test_the_judge_is_not_woken_by_every_line(interpreting, kernel, platforms, monkeypatch):
    drained = []
    drain = Printed.drain
    monkeypatch.setattr(Printed, "drain", lambda self: drained.append(drain(self)) or drained[-1])
    lines = 50_000
    source = f"import os\nfor n in range({lines}):\n    os.write(2, b'a line\\n')\ndef entry(x):\n    return x\n"
    request = {
        "do": "load", "file": "kernel.py", "function": "entry", "platform": platforms["h100"].model_dump(mode="json"),
    }  # fmt: skip
    with Session(interpreting, kernel(source)) as session:
        assert session.ask(request, 60)["loaded"]
        assert session.log().endswith("a line\n")
    assert len(drained) < lines / 10
