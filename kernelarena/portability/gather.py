"""Finding the sources below what a user named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kernelarena.errors import InputError
from kernelarena.portability.source import GRAMMARS, Source, Unreadable
from kernelarena.spec import Kernel, textfile
from kernelarena.spec.places import Place, look, refusal

MAX_BYTES = 4 << 20
"""Of one file; what is larger was written by a program, and is data more often than code."""


def gather(paths: Iterable[Path]) -> Iterator[Source | Unreadable]:
    """Yield the sources at and below ``paths``, in the order of their names, each once.

    Raises
    ------
    InputError
        If a path does not exist, is no source, holds none, or cannot be read. A file that lies in a folder and cannot
        be read does not keep the others from being looked at.
    """
    seen: set[Path] = set()
    for path in paths:
        for file in _files(path):
            real = file.resolve()
            if real not in seen:
                seen.add(real)
                yield _read(file, named=file == path)


def sources_of(kernels: Iterable[Kernel]) -> Iterator[Source]:
    """Yield the sources of kernels that are in hand, named by where each kernel comes from."""
    for kernel in kernels:
        origin = Path(kernel.origin.partition("::")[0])
        for path, content in sorted(kernel.files.items()):
            suffix = Path(path).suffix
            if suffix in GRAMMARS:
                single = origin.name == path and origin.suffix in GRAMMARS
                yield Source(str(origin if single else origin / path), GRAMMARS[suffix], content)


def _read(file: Path, *, named: bool) -> Source | Unreadable:
    try:
        return Source(str(file), GRAMMARS[file.suffix], textfile.read(file, limit=MAX_BYTES))
    except InputError as error:
        if named:
            raise
        return Unreadable(str(error))


def _files(path: Path) -> list[Path]:
    place = look(path)
    if place is Place.NOTHING:
        raise InputError(f"{path}: no such file or folder")
    if place is Place.FOLDER:
        try:
            found = sorted(each for each in path.rglob("*") if each.suffix in GRAMMARS and each.is_file())
        except OSError as error:
            raise refusal(path, error) from None
        if not found:
            raise InputError(f"{path}: holds no source; expected {', '.join(GRAMMARS)}")
        return found
    if path.suffix not in GRAMMARS:
        raise InputError(f"{path}: no source that is known by its suffix; expected {', '.join(GRAMMARS)}")
    return [path]
