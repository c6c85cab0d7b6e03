"""What lies at a path that a user named, and whose fault it is where that cannot be told or used."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from kernelarena.errors import InfraError, InputError, KernelArenaError
from kernelarena.spec.base import StrEnum

_SHORTAGES = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.EAGAIN}
)
"""What a host runs out of, however right the path is."""


class Place(StrEnum):
    """What lies at a path, links followed."""

    NOTHING = "nothing"
    FILE = "a file"
    FOLDER = "a folder"
    OTHER = "neither a file nor a folder"
    """A pipe, a socket, a device: reading one may never end."""


def look(path: Path) -> Place:
    """Return what lies at ``path``.

    Raises
    ------
    InputError
        If that cannot be told: the name is too long, links go in circles, a folder on the way may not be looked into.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Place.NOTHING
    except OSError as error:
        raise refusal(path, error) from None
    except ValueError:  # a NUL byte, from a file that names it
        raise InputError(f"{str(path)!r}: cannot be the name of a file") from None
    if stat.S_ISREG(mode):
        return Place.FILE
    return Place.FOLDER if stat.S_ISDIR(mode) else Place.OTHER


def is_shortage(error: OSError) -> bool:
    """Return whether the host lacks something (room, memory, descriptors), rather than that a path is wrong."""
    return error.errno in _SHORTAGES


def refusal(path: Path, error: OSError, what: str = "cannot be read") -> KernelArenaError:
    """Return what to raise where the system refused: the path is wrong (the user's), or the host lacks something.

    Parameters
    ----------
    path
        What the user named.
    error
        What the system said.
    what
        ``cannot be written``, say.
    """
    kind = InfraError if is_shortage(error) else InputError
    return kind(f"{path}: {what}: {error.strerror or error}")
