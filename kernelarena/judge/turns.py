"""Whose turn it is on a device: kernels may be judged on it side by side, but whoever takes times is alone.

Two locks of the operating system, so that whoever ends, however it ends, lets go. The room is shared, or somebody's
alone. All go through the door one by one, and whoever waits for the room keeps it shut: nobody who came later gets in
before. The locks are by device and by user: they hold between the workers of a run, and between runs.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelarena.errors import InfraError


class Turns:
    """One process's turns on one device.

    Parameters
    ----------
    device
        What identifies it on this host.

    Raises
    ------
    InfraError
        If the locks cannot be had.
    """

    def __init__(self, device: str) -> None:
        folder = _folder()
        name = re.sub(r"[^\w.-]", "_", device)
        self._door = _opened(folder / f"{name}.door")
        self._room = _opened(folder / f"{name}.room")

    def close(self) -> None:
        """Let go."""
        os.close(self._door)
        os.close(self._room)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Be on the device with others of whom none takes times."""
        self._enter(fcntl.LOCK_SH)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be on the device with nobody else; within :meth:`together`, to which it returns."""
        self._leave()  # two who waited for each other to leave would wait for ever
        self._enter(fcntl.LOCK_EX)
        try:
            yield
        finally:
            self._leave()
            self._enter(fcntl.LOCK_SH)

    def _enter(self, how: int) -> None:
        fcntl.flock(self._door, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._room, how)
        finally:
            fcntl.flock(self._door, fcntl.LOCK_UN)

    def _leave(self) -> None:
        fcntl.flock(self._room, fcntl.LOCK_UN)


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"kernelarena-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise InfraError(f"{folder}: cannot be made for the locks of devices: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise InfraError(f"{folder}: is not a folder of this user; remove it, or set TMPDIR")
    return folder


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise InfraError(f"{path}: cannot be opened: {error.strerror}") from None
