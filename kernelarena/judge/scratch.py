"""Scratch folders of candidates on the host, where these have no file system of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

PREFIX = "kab-mc-"
"""What their names begin with. The zygote's process id follows, so that what a killed one left can be told from what is
in use."""


def make(owner: int) -> str:
    """Make a folder of this process for a user, and return its path."""
    folder = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
    if owner != os.geteuid():
        os.chown(folder, owner, owner)
    return folder


def throw_away(folder: str) -> None:
    """Remove a folder, whatever modes its contents were given; an empty path is none."""
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):
            unlock(folder)
            shutil.rmtree(folder, ignore_errors=True)


def unlock(tree: str) -> None:
    """Allow the owner of a tree everything in its folders. Links are not followed: a kernel made them."""
    os.chmod(tree, stat.S_IRWXU)
    for parent, names, _ in os.walk(tree):
        for path in (os.path.join(parent, name) for name in names):
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)


def remove_left_by(pid: int) -> None:
    """Remove the folders of a zygote that has ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}{pid}-*"):
        throw_away(str(folder))


def remove_abandoned(seconds: float = 3600.0) -> None:
    """Remove folders of zygotes that were killed before they could do it themselves.

    Parameters
    ----------
    seconds
        How long they must have lain: where containers share the folder, a zygote that is at work in another one has a
        process id that does not exist here. No cell takes an hour.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            old = time.time() - folder.stat().st_mtime > seconds
            if old and owner.isdigit() and not Path(f"/proc/{owner}").exists():
                throw_away(str(folder))
