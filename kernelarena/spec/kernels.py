"""Reading submissions: kernel folders, single files and JSON Lines, each into a ``Kernel`` with its sources in hand.

What a submission says about itself is checked here (its task, its language, that its entry exists), because that is
the user's input. What its program does is not: a kernel that does not even parse is a result, which the compile gate
reports as ``syntax-error``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kernelarena.errors import InputError, nearest, quoted
from kernelarena.spec import entry as entries
from kernelarena.spec import jsonlines, textfile, yamlfile
from kernelarena.spec.kernel import Kernel, KernelFile, Language
from kernelarena.spec.places import Place, look, refusal

MANIFEST = "kernel.yaml"
MAX_BYTES = 1 << 20
"""Sources of one kernel may not be larger than this, together: 1 MiB."""
MAX_FILES = 1_000
"""Source files of one kernel."""

_SUFFIXES = frozenset({".py", ".txt", ".json", ".h", ".hpp", ".cuh", ".cu", ".hip", ".cpp"})
_SINGLE = {".py": Language.TRITON, ".hip": Language.HIP, ".cu": Language.CUDA}


@dataclass(frozen=True)
class _Found:
    """A submission that has been read, before it has an id that is unique in the run."""

    kernel: Kernel
    place: PurePosixPath
    """Absolute; tells clashing ids apart."""


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
        Each is a folder with a ``kernel.yaml``; a folder of many, searched recursively for ``kernel.yaml`` and
        ``*.jsonl``; a ``kernel.yaml``; a ``.jsonl`` file, or one line of it as ``file.jsonl:17``; or a single source
        file, optionally as ``file.py::function``. What is named twice is read once.
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
    found: list[_Found] = []
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
        self._seen: set[Path] = set()
        if task is not None and task not in tasks:
            raise InputError(f"--task: unknown task '{task}'; {nearest(task, tasks)}")

    def read(self, given: str) -> list[_Found]:
        _named_in_text(given)
        if (one := re.fullmatch(r"(.+\.jsonl):(\d+)", given)) and look(Path(given)) is Place.NOTHING:
            return self._one_line(Path(one[1]), int(one[2]))
        name, _, function = given.partition("::")
        path = Path(name)
        place = look(path)
        if place is Place.NOTHING:
            raise InputError(f"{path}: {_NOTHING}")
        if function and path.suffix not in _SINGLE:
            raise InputError(f"{given}: only a source file can be followed by '::' and a function")
        if place is Place.FOLDER:
            return self._folder_of_many(path)
        if place is not Place.FILE:
            raise InputError(f"{path}: is {place}")
        if path.name == MANIFEST:
            return list(self._folder(path.parent))
        if path.suffix == ".jsonl":
            return list(self._lines(path))
        if path.suffix in _SINGLE:
            return list(self._single(path, function))
        kinds = ", ".join([MANIFEST, "*.jsonl", *(f"*{suffix}" for suffix in _SINGLE)])
        raise InputError(f"{path}: not a kernel; expected a folder or one of {kinds}")

    def _folder_of_many(self, root: Path) -> list[_Found]:
        places = list(_submissions(root))
        if not places:
            raise InputError(f"{root}: no kernels in this folder (looked for {MANIFEST} and *.jsonl, recursively)")
        found: list[_Found] = []
        for place in places:
            found += self._lines(place) if place.suffix == ".jsonl" and place.is_file() else self._folder(place)
        return found

    def _folder(self, folder: Path) -> Iterator[_Found]:
        if self._is_repeated(folder):
            return
        try:
            _named_in_text(str(folder))
            yield _read_folder(folder, self.tasks)
        except InputError as error:
            self._leave_out(error)

    def _single(self, path: Path, function: str) -> Iterator[_Found]:
        if self._is_repeated(path):
            return
        try:
            yield _read_single(path, function, self.task, self.tasks)
        except InputError as error:
            self._leave_out(error)

    def _lines(self, path: Path) -> Iterator[_Found]:
        if self._is_repeated(path):
            return
        _named_in_text(str(path))
        empty = True
        for number, line in jsonlines.lines(path):
            empty = False
            try:
                yield _read_line(path, number, line, self.tasks)
            except InputError as error:
                self._leave_out(error)
        if empty:
            self._leave_out(InputError(f"{path}: no kernels in this file; each line is one JSON object"))

    def _one_line(self, path: Path, wanted: int) -> list[_Found]:
        if look(path) is Place.NOTHING:
            raise InputError(f"{path}: {_NOTHING}")
        line = next((line for number, line in jsonlines.lines(path) if number == wanted), b"")
        if line == b"":
            raise InputError(f"{path}:{wanted}: there is no kernel on this line")
        try:
            return [_read_line(path, wanted, line, self.tasks)]
        except InputError as error:
            self._leave_out(error)
            return []

    def _is_repeated(self, path: Path) -> bool:
        resolved = path.resolve()
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
    """Yield kernel folders and JSON Lines files under ``root``, sorted; nothing inside a kernel folder is looked at."""
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if place.suffix == ".jsonl" and place.is_file():
            yield place
        elif place.is_dir():
            if look(place / MANIFEST) is not Place.NOTHING:
                yield place
            else:
                waiting += reversed(_children(place))


def _children(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted, without what is hidden or made by machines, and links to folders."""
    try:
        return sorted(child for child in folder.iterdir() if not _is_passed_over(child))
    except OSError as error:
        raise refusal(folder, error) from None


def _is_passed_over(path: Path) -> bool:
    if path.name.startswith("."):
        return True
    return path.is_dir() and (path.name.startswith("__") or path.is_symlink())  # a link may lead back up


def _read_folder(folder: Path, tasks: Collection[str]) -> _Found:
    manifest = yamlfile.Document(folder / MANIFEST)
    declared = manifest.fit(KernelFile)
    if declared.source is not None:
        raise manifest.error("source", "only JSON Lines carry it; use a file")
    wrong = _mistakes(declared, tasks)
    files = _sources(folder)
    named = _entries(declared, files, wrong)
    if wrong:
        raise InputError(*(manifest.problem(key, message) for key, message in wrong))
    return _found(declared, Path(os.path.abspath(folder)).name, named, files, str(folder), _posix(folder))


def _read_single(path: Path, function: str, task: str | None, tasks: Collection[str]) -> _Found:
    if task is None:
        beside = path.parent / MANIFEST
        hint = f", or give its folder {path.parent}" if beside.is_file() else ""
        raise InputError(
            f"{path}: a single file does not say which task it solves; add --task ID{hint} (check --static needs none)"
        )
    declared = KernelFile(task=task, language=_SINGLE[path.suffix], entry=path.name)
    wrong = [f"{path}: {key}: {message}" for key, message in _mistakes(declared, tasks)]
    if not path.name.isprintable():
        wrong.append(f"{str(path)!r}: its name holds characters that cannot be shown; rename it")
    if wrong:
        raise InputError(*wrong)
    files = {path.name: _text(path)}
    wanted = f"{path.name}::{function}" if function else path.name
    try:
        named = {"entry": entries.resolve(wanted, files, default=task)}
    except entries.EntryError as error:
        raise InputError(f"{path}: {error}") from None
    name = path.stem if path.stem != "kernel" else path.resolve().parent.name
    return _found(declared, name, named, files, str(path), _posix(path.with_suffix("")))


def _read_line(path: Path, number: int, line: bytes | None, tasks: Collection[str]) -> _Found:
    where = f"{path}:{number}"
    declared = jsonlines.parse(where, line)
    if declared.source is None:
        raise InputError(f"{where}: source: this key is required")
    wrong = _mistakes(declared, tasks)
    if len(declared.source.encode()) > MAX_BYTES:
        wrong.append(("source", f"larger than {MAX_BYTES >> 20} MiB"))
    name, separator, _ = declared.entry.partition("::")
    default = "kernel" + next((suffix for suffix, its in _SINGLE.items() if its is declared.language), ".py")
    file = name if separator or name.endswith(entries.SUFFIXES) else default
    files = {file: declared.source}
    named: dict[str, tuple[str, str]] = {}
    if (
        not file.endswith(entries.SUFFIXES)
        or PurePosixPath(file).name != file
        or not file.isprintable()
        or len(file) > 200
    ):
        wrong.append(("entry", f"{quoted(file)} is not the plain name of a source file"))
    else:
        named = _entries(declared, files, wrong)
    if wrong:
        raise InputError(*(f"{where}: {key}: {message}" for key, message in wrong))
    name = f"{declared.task}-{number}"
    place = _posix(path.with_suffix("")) / (declared.id or name)
    return _found(declared, name, named, files, where, place)


def _mistakes(declared: KernelFile, tasks: Collection[str]) -> list[tuple[str, str]]:
    """Return what is wrong with a declaration by itself: the key, and why."""
    wrong = []
    if declared.task not in tasks:
        wrong.append(("task", f"unknown task '{declared.task}'; {nearest(declared.task, tasks)}"))
    file = declared.entry.partition("::")[0]
    if file.endswith(entries.SUFFIXES) and file.endswith(".py") == declared.language.is_cpp:
        wrong.append(("entry", f"{quoted(file)} is no source file of language '{declared.language}'"))
    return wrong


def _entries(declared: KernelFile, files: dict[str, str], wrong: list[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the file and the function of the entry, and of the original; what names nothing is put into ``wrong``."""
    found = {}
    for key in ("entry", "original"):
        if (named := getattr(declared, key)) is not None:
            try:
                found[key] = entries.resolve(named, files)
            except entries.EntryError as error:
                if key == "entry" and isinstance(error, entries.NoSuchFunction):
                    # Whoever wrote the source forgot it, or called it otherwise: that is a kernel which does not work,
                    # and no reason to judge none of the others.
                    found[key] = error.file, error.function
                else:
                    wrong.append((key, str(error)))
    # Timed beside itself it would be as fast as its original, whatever it is.
    if found.keys() == {"entry", "original"} and (not declared.original or found["original"] == found["entry"]):
        wrong.append(("original", "names the entry itself; name what it was optimised from, or leave this key out"))
    return found


def _found(
    declared: KernelFile,
    name: str,
    named: dict[str, tuple[str, str]],
    files: dict[str, str],
    origin: str,
    place: PurePosixPath,
) -> _Found:
    file, function = named["entry"]
    kernel = Kernel(
        id=declared.id or identifier(name),
        task=declared.task,
        language=declared.language,
        file=file,
        function=function,
        original="::".join(named["original"]) if "original" in named else None,
        home=declared.home,
        provenance=declared.provenance,
        files=files,
        origin=origin,
    )
    return _Found(kernel, place)


def _sources(folder: Path) -> dict[str, str]:
    """Return the text of every source file under ``folder`` by its relative path, folder by folder."""
    files: dict[str, str] = {}
    total = 0
    inside = folder.resolve()
    waiting = _children(folder)
    while waiting:
        path = waiting.pop(0)
        if path.is_dir():
            waiting += _children(path)
        elif path.suffix in _SUFFIXES:
            relative = path.relative_to(folder).as_posix()
            if not relative.isprintable():
                raise InputError(f"{str(path)!r}: its name holds characters that cannot be shown; rename it")
            if inside not in Path(os.path.realpath(path)).parents:  # a stranger's must not pull in the user's files
                raise InputError(f"{path}: a link that leads out of the kernel's folder; put the file itself there")
            text = _text(path)
            total += len(text.encode())
            if total > MAX_BYTES:
                raise InputError(
                    f"{folder}: the sources are larger than {MAX_BYTES >> 20} MiB; keep data out of a kernel's folder"
                )
            if len(files) == MAX_FILES:
                raise InputError(f"{folder}: more than {MAX_FILES:,} source files; keep data out of a kernel's folder")
            files[relative] = text
    return files


def _text(path: Path) -> str:
    return textfile.read(path, limit=MAX_BYTES)


def identifier(name: str) -> str:
    """Return ``name`` with everything that an id may not have replaced by ``-``."""
    safe = re.sub(r"[^A-Za-z0-9_.+-]+", "-", name).strip("-").lstrip("_.+-")
    return safe[:120] or "kernel"


def _posix(path: Path) -> PurePosixPath:
    return PurePosixPath(path.resolve().as_posix())


def _with_unique_ids(found: list[_Found]) -> list[Kernel]:
    """Tell kernels of the same id apart by their paths from the folder that they share, else by a number."""
    groups: dict[str, list[_Found]] = {}
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
