"""Standard output and standard error as a tool meets them: closed, full, narrow, or with nobody reading.

What is printed on standard output is what was asked for: that it cannot be written is said, and ends in exit code 3. A
reader that has seen enough (``| head``) is no error. Standard error is for remarks, and nothing depends on them: where
they cannot be written they are lost. Text for people loses its signs where the encoding has none for them; JSON is
UTF-8 whatever the locale says (RFC 8259).
"""

from __future__ import annotations

import codecs
import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ReaderGone(Exception):
    """Whoever read our output has seen enough."""


class OutputLost(Exception):
    """Standard output cannot be written; the text says why."""


def say(line: str) -> None:
    """Tell the user something that is no result."""
    click.echo(line, err=True)


def emit(text: str, file: TextIO | None = None) -> None:
    """Write a result that a program reads: UTF-8, whatever the locale."""
    click.echo(text.encode("utf-8", "replace"), file=file, nl=False)


def install() -> None:
    """Put streams that know what to do in place of Python's own. Once, at the start of the process."""
    for descriptor in range(3):
        _occupy(descriptor)
    sys.stdout = results(1)
    sys.stderr = remarks(2)


def results(descriptor: int) -> TextIO:
    """Return a stream for what was asked for, in the encoding of standard output."""
    return _text(_Output(descriptor), sys.stdout)


def remarks(descriptor: int) -> TextIO:
    """Return a stream for what nothing depends on, in the encoding of standard error."""
    return _text(_Remarks(descriptor), sys.stderr)


def _occupy(descriptor: int) -> None:
    """Let no file that is opened later take the number of a standard stream that is closed.

    What is printed would end in that file. The null device is opened the wrong way round in the place of standard
    output, so that writing to it fails as writing to a closed one does.
    """
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)  # takes the lowest number that is free


class _Stream(io.RawIOBase):
    """A file descriptor; what a failed write means is left to subclasses. After it, everything goes nowhere."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._over = False

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data)
        while not self._over:
            try:
                return os.write(self._descriptor, view)
            except BlockingIOError:  # shared with a process that made it so
                select.select([], [self._descriptor], [])
            except OSError as error:
                self._over = True
                self._lost(error)
        return len(view)

    def _lost(self, error: OSError) -> None:
        raise NotImplementedError


class _Output(_Stream):
    def _lost(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from None
        raise OutputLost(error.strerror) from None


class _Remarks(_Stream):
    def _lost(self, error: OSError) -> None:
        """Go on: a run does not end because nobody listens any more."""


class _Text(io.TextIOWrapper):
    """Text in any encoding: what it lacks is written plainly, and nothing fails to be printed."""

    def __init__(self, raw: _Stream, encoding: str, *, line_buffering: bool) -> None:
        # click puts a stream of its own, in UTF-8, in the place of one in ASCII, which is a part of it.
        outer = "utf-8" if encoding == "ascii" else encoding
        super().__init__(io.BufferedWriter(raw), outer, _PLAINLY, line_buffering=line_buffering)
        self.inner = encoding

    def write(self, text: str, /) -> int:
        super().write(text.encode("ascii", _PLAINLY).decode("ascii") if self.inner == "ascii" else text)
        return len(text)


def _text(raw: _Stream, before: TextIO | None) -> TextIO:
    given = before.inner if isinstance(before, _Text) else getattr(before, "encoding", None)
    encoding = codecs.lookup(given or "utf-8").name
    return _Text(raw, encoding, line_buffering=raw.isatty() or isinstance(raw, _Remarks))


_PLAINLY = "kernelarena-plainly"
PLAIN = {
    "✓": "+", "✗": "x", "–": "-", "−": "-", "·": ".", "⌂": "^", "…": "...", "×": "x", "’": "'", "µ": "u", "→": "->",
    "≤": "<=", "≥": ">=", "±": "+/-", "°": " deg", "√": "sqrt", "⟨": "<", "⟩": ">", "�": "?", "␡": "?", "“": '"',
    "”": '"', "━": "-", "╸": "-", "╺": "-", "─": "-", "│": "|",
}  # fmt: skip
"""What our own signs become where the encoding lacks them."""


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter = error.object[error.start]
    if 0xDC80 <= ord(letter) <= 0xDCFF and error.encoding != "ascii":
        return bytes([ord(letter) - 0xDC00]), error.start + 1  # a byte of a file's name that is no text, as it was
    return PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode("ascii"), error.start + 1


codecs.register_error(_PLAINLY, _plainly)
