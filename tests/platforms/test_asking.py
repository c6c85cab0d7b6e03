"""Processes that answer, and processes that do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernelarena.platforms.asking import Question, environment
from tests.processes import gone


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a module that is asked."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(text: str) -> str:
        (tmp_path / "asked.py").write_text(f"import json, os, signal, sys, time\n{text}\n")
        return "asked"

    return write


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("print('chatter'); print(json.dumps({'told': json.loads(sys.argv[1])['what']}))", {"told": 7}),
        ("print('{')", {"problem": "it ended with exit status 0 and said nothing"}),
        ("print('[1]')", {"problem": "it ended with exit status 0 and said nothing"}),
        ("sys.exit('one line\\nand   another')", {"problem": "and another"}),
        ("os.kill(os.getpid(), signal.SIGSEGV)", {"problem": "it was ended by SIGSEGV"}),
        ("os._exit(3)", {"problem": "it ended with exit status 3 and said nothing"}),
    ],
)
def test_an_answer_or_one_line_why_there_is_none(module, text: str, answer: dict[str, object]) -> None:
    with Question(module(text), {"what": 7}, 30) as question:
        assert question.answer() == answer
        assert question.answer() == answer


def test_a_process_that_does_not_answer_is_ended_with_all_that_it_started(module, tmp_path: Path) -> None:
    file = tmp_path / "child"
    text = f"pid = os.fork()\nif pid: open({str(file)!r}, 'w').write(str(pid))\nwhile True: time.sleep(1)"
    with Question(module(text), {}, 1.5) as question:
        assert question.answer() == {"problem": "no answer within 1.5 s"}
    assert gone(int(file.read_text()))
    question.close()


def test_what_prints_without_end_does_not_stand_still(module) -> None:
    with Question(
        module("print('x' * 10_000_000); print('y' * 10_000_000, file=sys.stderr); print('{}')"), {}, 30
    ) as question:
        assert question.answer() == {}


def test_the_working_folder_is_no_place_to_import_from(module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "json.py").write_text("raise RuntimeError('not the one that is meant')")
    monkeypatch.chdir(there)
    with Question(module("print('{}')"), {}, 30, environment()) as question:
        assert question.answer() == {}


def test_it_ends_with_the_process_that_asks(module, tmp_path: Path) -> None:
    """Whoever is interrupted while starting one has no means to end it."""
    file = tmp_path / "answering"
    name = module(f"open({str(file)!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(1)")
    script = (
        "import pathlib, subprocess, time; from kernelarena.platforms import asking\n"
        f"file = pathlib.Path({str(file)!r})\n"
        f"subprocess.Popen(asking.command({name!r}, {{}}))\n"
        "while not (file.exists() and file.read_text()): time.sleep(0.01)\n"
    )
    subprocess.run([sys.executable, "-c", script], env=environment(), check=True, timeout=60)
    assert gone(int(file.read_text()))
