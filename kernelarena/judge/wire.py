"""Messages between the judge and the processes that it starts: length-prefixed JSON over a Unix socket.

Plain data of fixed form, and nothing else: a kernel controls one end of this wire, so nothing that arrives is ever
unpickled, evaluated or trusted to be well formed. Open files travel beside a message, towards the kernel only.
"""

from __future__ import annotations

import array
import contextlib
import json
import select
import socket
import struct
import sys
import time
from collections.abc import Sequence
from typing import Any

MAX_MESSAGE = 64 << 20
"""Bytes; an honest answer is far smaller."""
MAX_FILES = 8
SPOKEN = "kernelarena.wire"
"""Audit event of every message in either direction: only the harness's own loop has one to send."""
ACT = "act"
"""Key of the one message that comes unasked: something that the kernel did and no kernel has a reason for."""
_TELLING = 1.0  # seconds
_HEADER = struct.Struct("<IB")  # bytes of the body, number of open files


class WireError(Exception):
    """The other side closed the wire, or said something that is not a message."""


class WireTimeout(Exception):
    """Nothing complete arrived before the deadline."""


class Wire:
    """One end of a conversation.

    Parameters
    ----------
    sock
        A connected stream socket; the wire owns it from now on.
    limit
        Bytes of a message that may arrive.
    takes_files
        Whether open files may arrive. Where not they are closed at once: each would cost this process a descriptor.
    """

    def __init__(self, sock: socket.socket, *, limit: int = MAX_MESSAGE, takes_files: bool = True) -> None:
        self.sock = sock
        self.received = 0
        """Bytes that have arrived since the beginning."""
        self._limit = limit
        self._takes_files = takes_files
        self._received = bytearray()
        self._files: list[int] = []

    @classmethod
    def pair(cls, *, limit: int = MAX_MESSAGE, takes_files: bool = True) -> tuple[Wire, socket.socket]:
        """Return one end, and the socket for the other process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(ours, limit=limit, takes_files=takes_files), theirs

    def fileno(self) -> int:
        """Return the descriptor, so that a wire can be selected on."""
        return self.sock.fileno()

    def close(self) -> None:
        """Close this end; the other one sees the end of the conversation."""
        self.sock.close()
        close_all(self._files)
        self._files = []

    def send(self, message: dict[str, Any], files: Sequence[int] = (), deadline: float | None = None) -> None:
        """Send a message, with open files beside it.

        Parameters
        ----------
        message
            Plain data.
        files
            Descriptors; the other side gets its own.
        deadline
            ``time.monotonic()`` at which to give up on a side that does not read; None waits for ever.

        Raises
        ------
        WireError
            If the other side is gone.
        WireTimeout
            If the deadline passed.
        """
        sys.audit(SPOKEN)
        self._send(message, files, deadline)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that nobody asked for; where the other side is gone or does not read, nothing happens."""
        with contextlib.suppress(WireError, WireTimeout):
            self._send(message, (), time.monotonic() + _TELLING)

    def _send(self, message: dict[str, Any], files: Sequence[int], deadline: float | None) -> None:
        body = json.dumps(message, separators=(",", ":"), allow_nan=True).encode("utf-8", "replace")
        data = memoryview(_HEADER.pack(len(body), len(files)) + body)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", list(files)).tobytes())] if files else []
        try:
            while data:  # files go with the first byte
                try:
                    data = data[self.sock.sendmsg([data], rights, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) :]
                    rights = []
                except BlockingIOError:
                    self._wait(select.POLLOUT, deadline)
        except OSError as error:
            raise WireError(f"the other side is gone ({error})") from None

    def receive(self, deadline: float | None = None) -> dict[str, Any]:
        """Return the next message; files that came with it are closed unread.

        Parameters
        ----------
        deadline
            ``time.monotonic()`` at which to give up; None waits for ever.

        Raises
        ------
        WireError
            If the other side closed the wire or sent something that is not a message.
        WireTimeout
            If the deadline passed.
        """
        message, files = self.receive_with_files(deadline)
        close_all(files)
        return message

    def receive_with_files(self, deadline: float | None = None) -> tuple[dict[str, Any], list[int]]:
        """Return the next message and the open files beside it, which the caller owns."""
        sys.audit(SPOKEN)
        while (received := self._take()) is None:
            self._fill(deadline)
        return received

    def try_receive(self) -> dict[str, Any] | None:
        """Return a message if one is there already, without waiting; files that came with it are closed unread.

        Raises
        ------
        WireError
            As :meth:`receive` does.
        """
        while (taken := self._take()) is None:
            if not self._read():
                return None
        close_all(taken[1])
        return taken[0]

    @property
    def pending(self) -> bool:
        """Whether bytes wait here that selecting on the wire would not show."""
        return bool(self._received)

    def _take(self) -> tuple[dict[str, Any], list[int]] | None:
        if len(self._received) < _HEADER.size:
            return None
        length, count = _HEADER.unpack_from(self._received)
        if length > self._limit or count > MAX_FILES:
            raise WireError(f"a message of {length} bytes and {count} files was announced")
        if len(self._received) < _HEADER.size + length:
            return None
        if len(self._files) < count:
            raise WireError("files were announced that did not come")
        body = bytes(self._received[_HEADER.size : _HEADER.size + length])
        del self._received[: _HEADER.size + length]
        # The system may deliver several messages at once, so files wait in line for the one that announced them.
        files, self._files = self._files[:count], self._files[count:]
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            close_all(files)
            raise WireError("something arrived that is not a message")
        return message, files

    def _fill(self, deadline: float | None) -> None:
        while not self._read():
            self._wait(select.POLLIN, deadline)

    def _wait(self, event: int, deadline: float | None) -> None:
        waiting = select.poll()  # not `select`, which knows no descriptor above 1023
        waiting.register(self.sock, event)
        timeout = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        if not waiting.poll(timeout):
            raise WireTimeout

    def _read(self) -> bool:
        """Take in what has arrived; return whether anything has."""
        room = socket.CMSG_SPACE(MAX_FILES * array.array("i").itemsize)
        try:
            data, ancillary, _, _ = self.sock.recvmsg(1 << 20, room, socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return False
        except OSError as error:
            raise WireError(f"the other side is gone ({error})") from None
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                files = array.array("i")
                files.frombytes(payload[: len(payload) - len(payload) % files.itemsize])
                if self._takes_files:
                    self._files.extend(files)
                else:
                    close_all(files)
        if not data:
            raise WireError("the other side closed the conversation")
        self._received += data
        self.received += len(data)
        return True


def close_all(files: Sequence[int]) -> None:
    """Close descriptors that arrived beside a message."""
    for descriptor in files:
        socket.close(descriptor)
