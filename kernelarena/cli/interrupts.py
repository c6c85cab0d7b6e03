"""Ctrl-C, SIGTERM and a closed terminal as a question that long work asks itself: none strikes amid a step."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """While the ``with`` block lasts, the first signal is noted, and a second one raises ``KeyboardInterrupt``.

    The instance is callable: it tells whether a signal has come.
    """

    def __init__(self) -> None:
        self._came = False
        self._before: dict[signal.Signals, Any] = {}

    def __call__(self) -> bool:
        """Return whether to stop."""
        return self._came

    def __enter__(self) -> Interrupts:
        handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        # One that is ignored stays so: nohup and shells that start something in the background mean it.
        self._before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
        self.install()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def install(self) -> None:
        """Take the signals, also from a library that took them meanwhile."""
        for number in self._before:
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._came:
            raise KeyboardInterrupt
        self._came = True
