"""Imports a kernel's module and finds its entry, with errors that say what is wrong with it."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelarena.errors import nearest
from kernelarena.spec.base import StrEnum


class EntryFault(StrEnum):
    """Why an entry cannot be called."""

    SYNTAX = "syntax"
    IMPORT = "import"
    MISSING = "missing"
    UNANSWERED = "unanswered"
    """It may be right: it asks for what the harness has no answer to."""


class EntryError(Exception):
    """The kernel's module cannot be imported, or has no such entry.

    Attributes
    ----------
    fault
        Which of the three it is.
    file, line
        Where, relative to the kernel's folder, as far as known.
    """

    def __init__(self, fault: EntryFault, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.file = file
        self.line = line


def load_entry(folder: Path, file: str, function: str) -> Callable[..., Any]:
    """Import ``file`` of the kernel in ``folder`` and return the callable ``function``.

    The folder goes to the front of ``sys.path``, so that a kernel may consist of several files. A class is
    instantiated without arguments, which is how pipelines that emit modules (``ModelNew``) name their entry.

    Parameters
    ----------
    folder
        Where the kernel's files lie.
    file
        Relative to it.
    function
        A name in the module; dots reach into classes and objects.

    Raises
    ------
    EntryError
        If the module does not parse, does not import, or lacks the entry.
    """
    folder = folder.resolve()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    module = _import(folder, file)
    found: Any = module
    for part in function.split("."):
        if not hasattr(found, part):
            public = [name for name, value in vars(found).items() if callable(value) and not name.startswith("_")]
            own = [name for name in public if getattr(vars(found)[name], "__module__", None) == module.__name__]
            raise EntryError(EntryFault.MISSING, f"{file} has no '{function}'; {nearest(part, own or public)}", file)
        found = getattr(found, part)
    if inspect.isclass(found):
        try:
            found = found()
        except Exception as error:
            raise _failure(error, folder, f"{function}() raises") from error
    if not callable(found):
        raise EntryError(EntryFault.MISSING, f"'{function}' in {file} is a {type(found).__name__}, not callable", file)
    entry: Callable[..., Any] = found
    return entry


def answering_in_place(entry: Callable[..., Any], position: int | None) -> Callable[..., Any]:
    """Return an entry that answers with the argument which its operator changes; the entry itself where it is None."""
    if position is None:
        return entry

    def changed(*arguments: Any) -> Any:
        entry(*arguments)
        return arguments[position]

    return changed


def _import(folder: Path, file: str) -> ModuleType:
    path = folder / file
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None:
        raise EntryError(EntryFault.IMPORT, f"{file} is not a Python file", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: a module may raise whatever it likes
        raise _failure(error, folder, "importing it raises") from error
    return module


def _module_name(path: Path) -> str:
    """Return the file's stem, or a longer name where that would hide another module (``torch.py``)."""
    stem = path.stem
    taken = stem in sys.modules or stem in sys.stdlib_module_names
    return f"kernel_{stem}" if taken or not stem.isidentifier() else stem


def _failure(error: BaseException, folder: Path, what: str) -> EntryError:
    if isinstance(error, EntryError):  # of what the module builds while it is imported
        return error
    file, line = _place(error, folder)
    if isinstance(error, SyntaxError) and file is not None:
        return EntryError(EntryFault.SYNTAX, error.msg, file, line)
    if isinstance(error, ModuleNotFoundError):
        return EntryError(EntryFault.IMPORT, f"it needs the module '{error.name}', which is not installed", file, line)
    if isinstance(error, ImportError):
        return EntryError(EntryFault.IMPORT, _said(error), file, line)
    return EntryError(EntryFault.IMPORT, f"{what} {type(error).__name__}: {_said(error)}", file, line)


def _said(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:500]
    except BaseException:  # the message is the kernel's code too, and may raise whatever it likes
        return "(its message cannot be shown)"


def _place(error: BaseException, folder: Path) -> tuple[str | None, int | None]:
    """Return the innermost line of the kernel's own files."""
    import traceback

    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    for name, line in reversed(places):
        try:
            return Path(name).resolve().relative_to(folder).as_posix(), line
        except (ValueError, OSError):
            continue
    return None, None
