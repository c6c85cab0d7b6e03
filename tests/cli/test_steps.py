"""How far a command is: plain lines now and then, or a bar that goes away."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kernelarena.cli import steps
from kernelarena.cli.steps import Steps


def plain() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def test_a_short_command_says_nothing() -> None:
    console = plain()
    with Steps("tasks", 2, "trials", console) as progress, progress.at("softmax"):
        progress.part(3, 36)
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_lines_say_the_item_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "EVERY_S", 0.0)
    console = plain()
    with Steps("tasks", 2, "trials", console) as progress:
        for name in ("add", "soft\x1b[31mmax"):
            with progress.at(name):
                progress.part(3, 36)
    assert console.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "tasks 1/2: add", "tasks 1/2: add, trials 3/36", "tasks 2/2: softmax", "tasks 2/2: softmax, trials 3/36",
    ]  # fmt: skip


def test_items_that_are_done_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "EVERY_S", 0.0)
    console = plain()
    with Steps("cells", 2, console=console) as progress:
        progress.done("one")
        progress.done("two")
    assert console.file.getvalue().splitlines() == ["cells 1/2: one", "cells 2/2: two"]  # type: ignore[attr-defined]


def test_a_terminal_gets_a_bar_that_goes_away() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with Steps("tasks", 2, "trials", console) as progress, progress.at("softmax"):
        progress.part(18, 36)
        bar = progress._bar
        assert bar is not None
        assert bar.tasks[0].completed == 0.5
        assert "tasks 1/2: softmax, trials 18/36" in bar.tasks[0].description
    assert bar.finished or not bar.live.is_started
