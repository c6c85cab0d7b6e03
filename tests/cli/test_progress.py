import io
import re
import threading

from rich.console import Console

from kernelarena.cli import progress as module
from kernelarena.cli.progress import CheckProgress, SweepProgress
from kernelarena.spec import Status
from tests.store.samples import CELLS, verdict


def show(statuses, *, terminal=False):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with SweepProgress(CELLS, console) as progress:
        for (kernel, platform), status in zip(CELLS, statuses, strict=False):
            progress.advance(verdict(kernel, platform, status))
    return console.file.getvalue()


def test_without_a_terminal_there_are_plain_lines_now_and_then(monkeypatch):
    assert show([Status.PASS] * 3) == "", "the last one has not come, and no time has passed"
    assert show([Status.PASS, Status.FAIL, Status.FAIL, Status.INFRA]) == (
        "2/2 kernels, 4/4 cells, 2 failed, 1 not judged\n"
    )
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    lines = show([Status.PASS] * 4).splitlines()
    assert [re.sub(r", about \d+ s left", "…", line) for line in lines] == [
        "0/2 kernels, 1/4 cells, 0 failed",
        "1/2 kernels, 2/4 cells, 0 failed",
        "1/2 kernels, 3/4 cells, 0 failed…",
        "2/2 kernels, 4/4 cells, 0 failed",
    ]


def test_on_a_terminal_there_is_a_bar():
    shown = show([Status.PASS, Status.FAIL, Status.PASS, Status.PASS], terminal=True)
    assert "2/2 kernels, 4/4 cells, 1 failed" in shown
    assert "left" in shown
    assert "━" in shown


def check(monkeypatch, patience, *, terminal=False):
    monkeypatch.setattr(module, "PATIENCE_S", patience)
    monkeypatch.setattr(module, "BRIEF_S", 0.0)
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    progress = CheckProgress(2, console)
    for platform in ("mi300", "h100"):
        with progress.at(platform):
            before = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
            for timer in before:
                timer.join(0 if patience else 60)  # with no patience it comes by itself
    return console.file.getvalue()


def test_a_check_says_where_it_is_once_it_takes_long(monkeypatch):
    assert check(monkeypatch, 3600) == ""
    assert check(monkeypatch, 0) == "checking on mi300 … (1 of 2)\nchecking on h100 … (2 of 2)\n"


def test_on_a_terminal_a_check_says_at_once_where_it_is_and_takes_it_back(monkeypatch):
    assert check(monkeypatch, 3600, terminal=True) == (
        "checking on mi300 … (1 of 2)\r\x1b[Kchecking on h100 … (2 of 2)\r\x1b[K"
    )


def test_durations():
    assert [module._duration(seconds) for seconds in (0.4, 59, 61, 3600)] == ["0 s", "59 s", "1 min 1 s", "60 min 0 s"]
