"""What a candidate prints: read from a pipe so that nobody has to wait, and kept as far as anyone would read."""

from __future__ import annotations

import contextlib
import fcntl
import os

PAUSE = 0.002
"""Seconds that what is printed may gather in its pipe. To be woken by every line would cost more than to read them."""
_KEPT = 16 << 10  # bytes
_ROOM = 1 << 20  # bytes that the pipe holds, if the system lets it
_PORTION = 64 << 10  # bytes read at once: more would not stay in the processor's cache


class Printed:
    """The reading end of a candidate's standard output and error.

    Attributes
    ----------
    writer
        The other end, to be handed to the candidate and closed here.
    open
        Whether anyone may still print.
    """

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        with contextlib.suppress(OSError):  # more than this user may have, all pipes together
            fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, _ROOM)
        self._room = fcntl.fcntl(self.writer, fcntl.F_GETPIPE_SZ)
        self._end = b""
        self.open = True

    def fileno(self) -> int:
        """Return the descriptor, so that it can be polled."""
        return self._reader

    def drain(self) -> bool:
        """Take in what has been printed; return whether it was so much that there is soon more to be had."""
        taken = 0
        while taken < self._room:  # no more than once full: it may be printed faster than this reads
            try:
                data = os.read(self._reader, _PORTION)
            except BlockingIOError:
                break
            if not data:
                self.open = False
                break
            taken += len(data)
            self._end = (self._end + data)[-_KEPT:]
        return 2 * taken >= self._room

    def text(self) -> str:
        """Return the end of what has been taken in."""
        return self._end.decode("utf-8", "replace")

    def close(self) -> None:
        """Let go of the pipe; whoever still prints is told so."""
        os.close(self._reader)
