"""Whether anybody reads what we print: ``kab-mc … | head`` is no error, whatever the libraries make of it."""

from __future__ import annotations

import os
import select
from types import TracebackType
from typing import TextIO


class ReaderGone(Exception):
    """Whoever read our output has seen enough."""


class Reader:
    """The other end of an output stream.

    Keeps its own hold on the pipe, because a library that meets the closed pipe may put something else in its place.
    """

    def __init__(self, stream: TextIO) -> None:
        try:
            self._pipe: int | None = os.dup(stream.fileno())
        except (OSError, ValueError):  # not a file at all, or closed
            self._pipe = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pipe is not None:
            os.close(self._pipe)

    def is_gone(self) -> bool:
        """Return whether the stream is a pipe that nobody reads any more."""
        if self._pipe is None:
            return False
        poll = select.poll()
        poll.register(self._pipe, 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))


def abandon(stream: TextIO) -> None:
    """Send what is still to come on ``stream``, also Python's last flush of it, to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
