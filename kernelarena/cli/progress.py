"""How far a sweep or a check is: drawn on a terminal, a plain line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from kernelarena.report.text import one_line
from kernelarena.spec import Status, Verdict

EVERY_S = 10.0
"""Between plain lines."""
PATIENCE_S = 2.0
"""How long a check may go on without a terminal before it says where it is."""
BRIEF_S = 0.3
"""How long it must be at a platform for that to be worth a line."""
_ENOUGH = 3
"""Verdicts from which a rate can be told."""


class SweepProgress:
    """Counts verdicts. A kernel is done when all its cells are.

    Parameters
    ----------
    cells
        Those that are going to be judged, as (kernel, platform).
    console
        Where to show it; standard error by default.
    """

    def __init__(self, cells: Iterable[tuple[str, str]], console: Console | None = None) -> None:
        self._left = Counter(kernel for kernel, _ in cells)
        self._kernels = len(self._left)
        self._total = sum(self._left.values())
        self._done = self._failures = self._infra = 0
        self._console = console or Console(stderr=True)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._said = 0.0
        self._first: float | None = None

    def __enter__(self) -> SweepProgress:
        self._said = time.monotonic()
        if self._console.is_terminal:
            self._bar = Progress(
                BarColumn(bar_width=24),
                TextColumn("{task.description}"),
                TimeRemainingColumn(compact=True),
                TextColumn("left"),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._words(), total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self._done += 1
        self._left[verdict.kernel] -= 1
        self._failures += verdict.status is Status.FAIL
        self._infra += verdict.status is Status.INFRA
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1, description=self._words())
            return
        now = time.monotonic()
        self._first = self._first or now
        if now - self._said >= EVERY_S or self._done == self._total:
            self._said = now
            with contextlib.suppress(BrokenPipeError):  # that nobody listens any more does not end a run
                print(self._words() + self._time_left(now), file=self._console.file, flush=True)

    def _time_left(self, now: float) -> str:
        """Extrapolate from the first verdict on: before it, workers were starting, which happens once."""
        if self._done < _ENOUGH or self._done == self._total or self._first is None:
            return ""
        return f", about {_duration((now - self._first) / (self._done - 1) * (self._total - self._done))} left"

    def _words(self) -> str:
        kernels = sum(1 for left in self._left.values() if left <= 0)
        words = f"{kernels}/{self._kernels} kernels, {self._done}/{self._total} cells, {self._failures} failed"
        return words + (f", {self._infra} not judged" if self._infra else "")


class CheckProgress:
    """Says which platform a check is at: at once on a terminal, where the line goes away again, else if it takes long.

    Parameters
    ----------
    total
        How many platforms there are.
    console
        Where to say it; standard error by default.
    """

    def __init__(self, total: int, console: Console | None = None) -> None:
        self._total = total
        self._number = 0
        self._console = console or Console(stderr=True)
        self._silent_until = time.monotonic() + PATIENCE_S

    @contextlib.contextmanager
    def at(self, platform: str) -> Iterator[None]:
        """Be at the next platform for as long as the block takes."""
        self._number += 1
        words = f"checking on {one_line(platform, limit=40)} … ({self._number} of {self._total})"
        if self._console.is_terminal:
            self._write(words)
            try:
                yield
            finally:
                self._write("\r\x1b[K")
            return
        timer = threading.Timer(max(self._silent_until - time.monotonic(), BRIEF_S), self._write, (f"{words}\n",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _write(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # that nobody listens any more does not end a check
            print(text, end="", file=self._console.file, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
