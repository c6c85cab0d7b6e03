"""Reading submissions: kernel folders, lists of kernels, single files and JSON Lines."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from kernelarena.errors import InputError, nearest
from kernelarena.spec import jsonlines
from kernelarena.spec.kernel import Kernel
from kernelarena.spec.places import Place, look
from kernelarena.spec.submission import (
    LANGUAGES,
    LIST,
    MANIFEST,
    Submission,
    children,
    identifier,
    read_folder,
    read_line,
    read_list,
    read_single,
)


def load_kernels(
    paths: Iterable[str | Path],
    *,
    tasks: Collection[str],
    task: str | None = None,
    keep_going: bool = False,
) -> tuple[list[Kernel], list[str]]:
    """Read every kernel under ``paths``.

    Parameters
    ----------
    paths
        Each is a folder with a ``kernel.yaml`` or a ``kernels.yaml``; a folder of many, searched recursively for these
        and ``*.jsonl``; one of these files; one task's kernels of a list, as ``kernels.yaml::task``; one line of JSON
        Lines, as ``file.jsonl:17``; or a single source file, optionally as ``file.py::function``. What is named twice
        is read once.
    tasks
        The known task ids.
    task
        The task of the single files among ``paths``.
    keep_going
        Leave out submissions that are wrong instead of raising.

    Returns
    -------
    kernels : list of Kernel
        In the order of ``paths``, and sorted by path inside a folder. Ids are unique: where two submissions have the
        same name, both get their path from the folder that they share.
    left_out : list of str
        One line for each submission that was left out; always empty without ``keep_going``.

    Raises
    ------
    InputError
        If a path does not exist or holds no kernel, or, without ``keep_going``, if any submission is wrong: unknown
        task, unsupported language, missing file, missing function, a broken line. With it, if none is left.
    """
    reader = _Reader(frozenset(tasks), task, keep_going)
    found: list[Submission] = []
    for path in paths:
        found += reader.read(str(path))
    if not found:
        first = f"; the first: {reader.left_out[0]}" if reader.left_out else ""
        raise InputError(f"no kernel could be read{first}")
    return _with_unique_ids(found), reader.left_out


class _Reader:
    def __init__(self, tasks: frozenset[str], task: str | None, keep_going: bool) -> None:
        self.tasks, self.task, self.keep_going = tasks, task, keep_going
        self.left_out: list[str] = []
        self._seen: set[str] = set()
        if task is not None and task not in tasks:
            raise InputError(f"--task: unknown task '{task}'; {nearest(task, tasks)}")

    def read(self, given: str) -> list[Submission]:
        _named_in_text(given)
        if (one := re.fullmatch(r"(.+\.jsonl):(\d+)", given)) and look(Path(given)) is Place.NOTHING:
            return self._one_line(Path(one[1]), int(one[2]))
        name, _, function = given.partition("::")
        path = Path(name)
        place = look(path)
        if place is Place.NOTHING:
            raise InputError(f"{path}: {_NOTHING}")
        if function and path.suffix not in LANGUAGES and path.name != LIST:
            raise InputError(f"{given}: only a source file can be followed by '::' and a function")
        if place is Place.FOLDER:
            return self._folder_of_many(path)
        if place is not Place.FILE:
            raise InputError(f"{path}: is {place}")
        if path.name == MANIFEST:
            return list(self._folder(path.parent))
        if path.name == LIST:
            return list(self._list(path, function or None))
        if path.suffix == ".jsonl":
            return list(self._lines(path))
        if path.suffix in LANGUAGES:
            return list(self._single(path, function))
        kinds = ", ".join([MANIFEST, LIST, "*.jsonl", *(f"*{suffix}" for suffix in LANGUAGES)])
        raise InputError(f"{path}: not a kernel; expected a folder or one of {kinds}")

    def _folder_of_many(self, root: Path) -> list[Submission]:
        places = list(_submissions(root))
        if not places:
            raise InputError(
                f"{root}: no kernels in this folder (looked for {MANIFEST}, {LIST} and *.jsonl, recursively)"
            )
        found: list[Submission] = []
        for place in places:
            found += {LIST: self._list, MANIFEST: self._manifest}.get(place.name, self._lines)(place)
        return found

    def _manifest(self, path: Path) -> Iterator[Submission]:
        return self._folder(path.parent)

    def _folder(self, folder: Path) -> Iterator[Submission]:
        if self._is_repeated(folder):
            return
        try:
            _named_in_text(str(folder))
            yield read_folder(folder, self.tasks)
        except InputError as error:
            self._leave_out(error)

    def _list(self, path: Path, task: str | None = None) -> Iterator[Submission]:
        try:
            _named_in_text(str(path.parent))
            for one in read_list(path, self.tasks, task):
                if isinstance(one, InputError):
                    self._leave_out(one)
                elif not self._is_repeated(path, one.kernel.task):
                    yield one
        except InputError as error:
            self._leave_out(error)

    def _single(self, path: Path, function: str) -> Iterator[Submission]:
        if self._is_repeated(path):
            return
        try:
            yield read_single(path, function, self.task, self.tasks)
        except InputError as error:
            self._leave_out(error)

    def _lines(self, path: Path) -> Iterator[Submission]:
        if self._is_repeated(path):
            return
        _named_in_text(str(path))
        empty = True
        for number, line in jsonlines.lines(path):
            empty = False
            try:
                yield read_line(path, number, line, self.tasks)
            except InputError as error:
                self._leave_out(error)
        if empty:
            self._leave_out(InputError(f"{path}: no kernels in this file; each line is one JSON object"))

    def _one_line(self, path: Path, wanted: int) -> list[Submission]:
        if look(path) is Place.NOTHING:
            raise InputError(f"{path}: {_NOTHING}")
        line = next((line for number, line in jsonlines.lines(path) if number == wanted), b"")
        if line == b"":
            raise InputError(f"{path}:{wanted}: there is no kernel on this line")
        try:
            return [read_line(path, wanted, line, self.tasks)]
        except InputError as error:
            self._leave_out(error)
            return []

    def _is_repeated(self, path: Path, part: str = "") -> bool:
        resolved = f"{path.resolve()}::{part}"
        repeated = resolved in self._seen
        self._seen.add(resolved)
        return repeated

    def _leave_out(self, error: InputError) -> None:
        if not self.keep_going:
            raise error
        self.left_out.append(str(error))


_NOTHING = "no such file or folder"


def _named_in_text(name: str) -> None:
    """Raise unless a name can be written down: reports and records hold it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name!r}: its name is not valid UTF-8; rename it") from None


def _submissions(root: Path) -> Iterator[Path]:
    """Yield what declares kernels under ``root``, sorted; a folder that holds a manifest is not searched further."""
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if place.suffix == ".jsonl" and place.is_file():
            yield place
        elif place.is_dir():
            manifests = [place / name for name in (MANIFEST, LIST) if look(place / name) is not Place.NOTHING]
            yield from manifests
            if not manifests:
                waiting += reversed(children(place))


def _with_unique_ids(found: list[Submission]) -> list[Kernel]:
    """Tell kernels of the same id apart by their paths from the folder that they share, else by a number."""
    groups: dict[str, list[Submission]] = {}
    for item in found:
        groups.setdefault(item.kernel.id, []).append(item)
    taken = {name for name, group in groups.items() if len(group) == 1}
    kernels: list[Kernel] = []
    for item in found:
        group = groups[item.kernel.id]
        if len(group) == 1:
            kernels.append(item.kernel)
            continue
        shared = os.path.commonpath([other.place.parent for other in group])
        wanted = identifier(item.place.relative_to(shared).as_posix().replace("/", "."))
        name, number = wanted, 1
        while name in taken:
            number += 1
            suffix = f"-{number}"
            name = wanted[: 120 - len(suffix)] + suffix
        taken.add(name)
        kernels.append(item.kernel.model_copy(update={"id": name}))
    return kernels
