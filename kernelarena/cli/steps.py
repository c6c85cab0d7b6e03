"""How far a command is that works through a list: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from kernelarena.cli.progress import EVERY_S
from kernelarena.report.text import one_line


class Steps:
    """Says on standard error which item a command is at, and how far it is with it.

    Parameters
    ----------
    noun
        What the items are, in the plural.
    total
        How many.
    inner
        What an item consists of, in the plural, where that is shown.
    console
        Where to say it; standard error by default.
    """

    def __init__(self, noun: str, total: int, inner: str = "", console: Console | None = None) -> None:
        self._noun, self._inner, self._total = noun, inner, total
        self._number = 0
        self._item = ""
        self._console = console or Console(stderr=True)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._said = time.monotonic()

    def __enter__(self) -> Steps:
        if self._console.is_terminal:
            self._bar = Progress(
                BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn(),
                console=self._console, transient=True,
            )  # fmt: skip
            self._bar.start()
            self._task = self._bar.add_task("starting", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @contextlib.contextmanager
    def at(self, item: str) -> Iterator[None]:
        """Be at the next item for as long as the block takes."""
        self._item = one_line(item, limit=40)
        self.part(0, 1)
        yield
        self._number += 1

    def part(self, done: int, total: int) -> None:
        """Note how far the item is that one is at."""
        inner = f", {self._inner} {done}/{total}" if total > 1 else ""
        self._say(
            self._number + done / max(total, 1), f"{self._noun} {self._number + 1}/{self._total}: {self._item}{inner}"
        )

    def done(self, item: str) -> None:
        """Note that another item is done."""
        self._number += 1
        self._say(self._number, f"{self._noun} {self._number}/{self._total}: {one_line(item, limit=60)}")

    def _say(self, completed: float, words: str) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=completed, description=words)
        elif time.monotonic() - self._said >= EVERY_S:
            self._said = time.monotonic()
            with contextlib.suppress(BrokenPipeError):  # that nobody listens any more does not end the work
                print(words, file=self._console.file, flush=True)
