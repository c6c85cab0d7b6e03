"""Whose code a stack frame belongs to, told by the name of the file that it was compiled from.

An act is a kernel's only where its own code asked for it: the kernel's file is the innermost one on the stack, but for
the standard library's plumbing, which has no will of its own (``pathlib`` opens what it is told to open). What torch,
Triton or ``importlib`` do on a kernel's behalf has a frame of theirs in between, and is theirs.

Code that comes out of ``exec`` has a file name that does not exist; no library makes such code for any of the acts
that are looked for, so it counts as the kernel's. A kernel that compiles code under a library's name is noticed when it
does.
"""

from __future__ import annotations

import builtins
import os
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType

# Functions below look here, and not where a kernel may put others.
__builtins__ = vars(builtins).copy()  # type: ignore[assignment]
KERNEL = "(kernel)"
"""Stands for the kernel where otherwise the dotted name of a module stands."""
PLUMBING = frozenset(
    {
        "os", "io", "_pyio", "codecs", "pathlib", "posixpath", "genericpath", "glob", "fnmatch", "shutil", "tempfile",
        "contextlib", "functools", "weakref", "ctypes", "threading", "concurrent.futures.thread",
        "kernelarena.platforms.persona.threads",
    }
)  # fmt: skip
"""Modules that do as they are told."""
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
_DEPTH = 40

Place = tuple[str, "int | None"]
"""A file relative to the kernel's folder, empty where that is not known, and a line."""


class Origins:
    """Tells the kernel's code from everybody else's.

    Parameters
    ----------
    folder
        The kernel's files.
    scratch
        What the candidate may write to; code in it is the kernel's too, since nobody else puts any there.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folders = (f"{folder}/", f"{folder.resolve()}/")
        self._own = (*self._folders, f"{scratch}/", f"{scratch.resolve()}/")
        self._roots = _roots(self._own)
        self._known: dict[str, str] = {}

    def of(self, filename: str) -> str:
        """Return the dotted name of the module that a file holds, or `KERNEL`."""
        found = self._known.get(filename)
        if found is None:
            found = self._known[filename] = self._classify(filename)
        return found

    def _classify(self, filename: str) -> str:
        if filename.startswith("<frozen "):
            return filename[8:-1]
        if not filename.startswith("/") or filename.startswith(self._own):
            return KERNEL
        for root in self._roots:
            if filename.startswith(root):
                return filename[len(root) :].removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        return KERNEL if filename.startswith(TEMPORARY) or not _exists(filename) else "?"

    def owns(self, code: object) -> bool:
        """Return whether a code object is the kernel's."""
        return type(code) is CodeType and self.of(code.co_filename) is KERNEL

    def within(self, filename: str) -> str | None:
        """Return the path relative to the kernel's folder, or None if it lies elsewhere."""
        return next((filename[len(prefix) :] for prefix in self._folders if filename.startswith(prefix)), None)

    def blame(self, through: frozenset[str], above: int) -> Place | None:
        """Return the line of the kernel that asked for what is happening, or None if it was not the kernel.

        Parameters
        ----------
        through
            Modules that only pass on what they are told to do, by dotted or by top-level name.
        above
            How many frames up from here the one is in which it happens.
        """
        frame: FrameType | None = sys._getframe(above + 1)
        for _ in range(_DEPTH):
            if frame is None:  # a thread that was given a function of the plumbing to run, and nobody else is in it
                return "", None
            module = self.of(frame.f_code.co_filename)
            if module is KERNEL:
                return self._place(frame)
            if module not in through and module.partition(".")[0] not in through:
                return None
            frame = frame.f_back
        return None

    def _place(self, frame: FrameType | None) -> Place:
        """Return the innermost line of the kernel's own files: code out of ``exec`` has none itself."""
        for _ in range(_DEPTH):
            if frame is None:
                break
            file = self.within(frame.f_code.co_filename)
            if file is not None:
                return file, frame.f_lineno
            frame = frame.f_back
        return "", None

    def defined_at(self, value: object) -> Place:
        """Return where the kernel defines a function, or nowhere if it is none, or not the kernel's."""
        value = value.__func__ if type(value) is MethodType else value  # an exact type has no surprises
        code = value.__code__ if type(value) is FunctionType else value
        if type(code) is CodeType and (file := self.within(code.co_filename)) is not None:
            return file, code.co_firstlineno
        return "", None


def _roots(own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that modules are found below, innermost first, but for those that hold the kernel's own."""
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {path for path in sys.path if path.startswith("/")}
    found.add(str(Path(__file__).resolve().parents[3]))
    found |= {os.path.realpath(path) for path in found}
    prefixes = {f"{path.rstrip('/')}/" for path in found}
    kept = {prefix for prefix in prefixes if not any(f"{path}/".startswith(prefix) for path in (*own, *TEMPORARY))}
    return tuple(sorted(kept, key=len, reverse=True))


def _exists(filename: str) -> bool:
    """Return whether there is such a file, or an archive that holds it."""
    path = filename
    while len(path) > 1:
        if os.path.exists(path):
            return path == filename or os.path.isfile(path)
        path = os.path.dirname(path)
    return False
