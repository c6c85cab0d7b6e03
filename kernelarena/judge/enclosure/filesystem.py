"""A root for one candidate: the paths of a :class:`~kernelarena.judge.enclosure.visible.View`, and room of its own.

Called as the first process of new user and mount namespaces, with all privileges within them. The order is that of
bubblewrap: everything is laid out below a file system in memory while the host's root is still in reach, then both
the host's root and the scaffolding are taken away for good.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kernelarena.judge.enclosure import system
from kernelarena.judge.enclosure.visible import View

SCRATCH = "/scratch"
"""The folder of its own that every candidate finds at the same place."""

_BASE = "/tmp"  # any folder that exists; what lies in it stays in reach below the host's root
_HOST = "/host"
_NEW = "/new"
_USER_FILES = {
    "passwd": "kernel:x:{id}:{id}::{home}:/bin/sh\n",
    "group": "kernel:x:{id}:\n",
    "hosts": "127.0.0.1 localhost\n",
}
_SHARED = {"tmp": "/tmp", "shm": "/dev/shm", "var": "/var/tmp", "scratch": SCRATCH}
"""Folders that share the candidate's storage, so that one limit holds for all of them."""


def enter(view: View, *, user: int, storage: int, own_processes: bool) -> None:
    """Make and enter a root that shows what ``view`` names, and nothing else of the host.

    Parameters
    ----------
    view
        What is shown.
    user
        Id of the user and group that the kernel runs as; the storage is theirs.
    storage
        Bytes that may be written, over all folders.
    own_processes
        Whether ``/proc`` is to show this process namespace alone; else the host's is shown.

    Raises
    ------
    OSError
        If the host refuses one of the steps.
    """
    sources = {path: os.path.realpath(path) for path in (*view.read_only, *view.devices)}  # links lead by this root
    system.mount("none", "/", None, system.MS_REC | system.MS_PRIVATE)
    system.mount("tmpfs", _BASE, "tmpfs", system.MS_NOSUID | system.MS_NODEV, "size=4m,mode=755")
    os.chdir(_BASE)
    os.mkdir(f".{_HOST}")
    system.pivot_root(".", f".{_HOST}")
    os.chdir("/")
    os.mkdir(_NEW)
    system.mount("tmpfs", _NEW, "tmpfs", system.MS_NOSUID | system.MS_NODEV, "size=4m,mode=755")
    for path, target in view.links.items():
        os.symlink(target, _NEW + path)
    _storage(user, storage)  # first, as an interpreter may lie in a folder that is also a place for temporary files
    _show(view, sources)
    _devices(view, sources)
    _user_files(user)
    _processes(own=own_processes)
    system.unmount(_HOST)
    os.chdir(_NEW)
    system.pivot_root(".", ".")  # the former root now lies on the new one
    system.unmount(".")
    os.chdir("/")
    system.mount("none", "/", None, system.MS_REMOUNT | system.MS_BIND | system.MS_RDONLY | system.MS_NOSUID)


def _show(view: View, sources: Mapping[str, str]) -> None:
    for path in sorted({*view.read_only, *view.hidden}, key=lambda path: Path(path).parts):
        if path in view.hidden:
            system.mount("tmpfs", _NEW + path, "tmpfs", system.MS_NOSUID | system.MS_NODEV, "size=4m,mode=755")
        elif os.path.exists(_HOST + sources[path]):  # a module may have been removed since it was looked for
            _bind(_HOST + sources[path], _NEW + path)
            system.make_read_only(_NEW + path)
    for path in view.hidden:  # not earlier: places for what lies below had to be made
        system.make_read_only(_NEW + path)


def _bind(source: str, target: str) -> None:
    """Let a path appear at ``target`` as well, with everything that is mounted below it."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    system.mount(source, target, None, system.MS_BIND | system.MS_REC)


def _devices(view: View, sources: Mapping[str, str]) -> None:
    for path in view.devices:
        _bind(_HOST + sources[path], _NEW + path)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"{_NEW}/dev/{name}")


def _storage(user: int, size: int) -> None:
    store = "/store"
    os.mkdir(store)
    options = f"size={size},mode=700,uid={user},gid={user}"
    system.mount("tmpfs", store, "tmpfs", system.MS_NOSUID | system.MS_NODEV, options)
    for name, place in _SHARED.items():
        os.mkdir(f"{store}/{name}", mode=0o700)
        os.chown(f"{store}/{name}", user, user)
        os.makedirs(_NEW + place, exist_ok=True)
        system.mount(f"{store}/{name}", _NEW + place, None, system.MS_BIND)


def _user_files(user: int) -> None:
    os.makedirs(f"{_NEW}/etc", exist_ok=True)
    for name, text in _USER_FILES.items():
        Path(f"{_NEW}/etc/{name}").write_text(text.format(id=user, home=SCRATCH))


def _processes(*, own: bool) -> None:
    target = f"{_NEW}/proc"
    os.mkdir(target)
    if own:
        system.mount("proc", target, "proc", system.MS_NOSUID | system.MS_NODEV)
    else:
        system.mount(f"{_HOST}/proc", target, None, system.MS_BIND | system.MS_REC)
