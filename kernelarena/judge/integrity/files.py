"""Which files no kernel has a reason to touch."""

from __future__ import annotations

import builtins
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kernelarena.judge.integrity.origin import TEMPORARY
from kernelarena.spec import paths

# Functions below look here, and not where a kernel may put others.
__builtins__ = vars(builtins).copy()  # type: ignore[assignment]
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_AUTOLOADED = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py"})
"""What Python and pytest run unasked."""
_STANDARD = frozenset({"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2"})
_MEMORY = frozenset({"/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"})
_INNER = frozenset({"mem", "environ", "fd", "fdinfo", "map_files"})
"""Of a process in ``/proc``: what holds its memory, its environment and its open files."""
_PUBLIC = frozenset({"cgroup", "sched"})
"""Of another process: what programs look at to learn whether they are in a container."""
_LISTS = frozenset({"/proc", "/dev/shm", "/dev/fd"})
"""Folders that list what other processes have."""
_KEPT = frozenset({".cache", ".triton", ".nv", ".local", ".config"})
"""Folders of a user's home that are there for the next kernel too; the candidate's own home is its scratch folder."""
_DECISIONS = tuple(f"/{folder.parent.name}/{folder.name}/" for folder in (paths.cache_dir(), paths.state_dir()))
"""Of any user's, the candidate's own included: nobody else has a reason to use the name."""
_OTHERS_SCRATCH = "kab-mc-"


class Files:
    """Tells files that a kernel may touch from those that it may not.

    Parameters
    ----------
    scratch
        What the candidate may write to.
    """

    def __init__(self, scratch: Path) -> None:
        own = (str(scratch), os.path.realpath(scratch))
        installed = sysconfig.get_paths()
        package = Path(__file__).resolve().parents[2]
        self._own = own
        self._harness = _real({str(package), *map(str, (paths.shipped("tasks"), paths.shipped("platforms")))}, own)
        self._python = _real({installed[n] for n in ("stdlib", "platstdlib", "purelib", "platlib")} | {sys.prefix}, own)
        self._temporary = _real({*TEMPORARY, tempfile.gettempdir()}, ())

    def opened(self, path: object, flags: int) -> str | None:
        """Return what is wrong with opening a file, as the rest of a sentence about the kernel, or None."""
        if (text := _text(path)) is None or text in _STANDARD:
            return None
        real = os.path.realpath(text)
        return (
            self._looked(text)
            or self._looked(real)
            or (self.written(real) if flags & WRITING else self._read(real))
        )  # fmt: skip

    def listed(self, path: object) -> str | None:
        """Return what is wrong with listing a folder, or None."""
        text = _text("." if path is None else path)
        if text is None:
            return None
        real = os.path.realpath(text)
        if text in _LISTS or real in _LISTS:
            return f"lists {text}, where other processes can be found"
        return self._looked(text) or self._looked(real) or self._read(real)

    def changed(self, path: object, directory: object = -1) -> str | None:
        """Return what is wrong with removing, renaming or linking a file, or None; links are not followed."""
        text = None if directory not in (-1, None) else _text(path)  # relative to an open folder: not known where
        if text is None:
            return None
        return self.written(os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text)))

    def written(self, real: str) -> str | None:
        """Return what is wrong with writing to a file, or None."""
        if os.path.basename(real) in _AUTOLOADED:
            return f"writes {real}, which Python or pytest runs unasked"
        if any(folder in real for folder in _DECISIONS):
            return f"writes {real}, where the harness keeps what it has found"
        if _below(real, self._own):
            return None
        if _below(real, self._harness):
            return f"writes {real}, a file of the harness"
        if _below(real, self._python):
            return f"writes {real}, a file of the Python installation"
        if not _KEPT.isdisjoint(real.split("/")):
            return f"writes {real}, which is kept for other programs"
        if _below(real, self._temporary):
            return f"writes {real}, another kernel's file" if f"/{_OTHERS_SCRATCH}" in real else None
        if real.startswith(("/dev/", "/proc/")) or not os.path.isdir(os.path.dirname(real)):
            return None  # a device, or a place that is not there: nothing comes of it
        return f"writes {real}, outside its folder"

    def _read(self, real: str) -> str | None:
        if _below(real, self._harness) and not _below(real, self._own):
            return f"reads {real}, a file of the harness"
        return None

    def _looked(self, text: str) -> str | None:
        """Return what is wrong with looking at a file of ``/proc`` or ``/dev``, or None."""
        if text in _MEMORY:
            return f"opens {text}, the memory of the machine"
        if not text.startswith("/proc/"):
            return None
        process, *rest = text.split("/")[2:]
        own = process in ("self", "thread-self", str(os.getpid()))
        if not own and not process.isdigit():
            return None
        if rest[:1] == ["task"]:
            rest = rest[2:]
        if own:
            if not rest or rest[0] not in _INNER or (rest[0] == "fd" and rest[1:] in (["0"], ["1"], ["2"])):
                return None
            return f"opens {text}: the memory, environment or open files of the harness's own process"
        return None if rest and rest[0] in _PUBLIC else f"opens {text}, which belongs to another process"


def _text(path: object) -> str | None:
    """Return a path as absolute text, or None if it is none (an open descriptor)."""
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return os.path.abspath(path) if isinstance(path, str) else None


def _real(folders: Iterable[str], own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders with what they are links to, but for those that the kernel's own lie in."""
    found = {path for folder in folders for path in (folder, os.path.realpath(folder))}
    return tuple(path for path in found if not _below(own[0], (path,))) if own else tuple(found)


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)
