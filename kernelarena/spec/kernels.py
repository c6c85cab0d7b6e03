"""Reading submissions: kernel folders, single files and JSON Lines, each into a ``Kernel`` with its sources in hand.

What a submission says about itself is checked here (its task, its language, that its entry exists), because that is
the user's input. What its program does is not: a kernel that does not even parse is a result, which the compile gate
reports as ``syntax-error``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from kernelarena.errors import InputError, nearest
from kernelarena.spec import entry as entries
from kernelarena.spec import yamlfile
from kernelarena.spec.kernel import Kernel, KernelFile, Language

MANIFEST = "kernel.yaml"
MAX_BYTES = 1 << 20
"""Sources of one kernel may not be larger than this, together: 1 MiB."""
MAX_LINE = 8 << 20
"""Bytes of one line of JSON Lines: the sources, with room for escapes and provenance."""

_SUFFIXES = frozenset({".py", ".txt", ".json", ".h", ".hpp", ".cuh", ".cu", ".hip", ".cpp"})
_SINGLE = {".py": Language.TRITON, ".hip": Language.HIP, ".cu": Language.CUDA}
_SUPPORTED = (Language.TRITON, Language.TORCH)


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
        try:
            return self._read(given)
        except (OSError, RuntimeError) as error:  # a loop of symbolic links, say
            raise InputError(f"{given}: cannot be read: {error}") from None

    def _read(self, given: str) -> list[_Found]:
        try:
            given.encode()
        except UnicodeEncodeError:
            raise InputError(f"{given!r}: its name is not valid UTF-8; rename it") from None
        if (one := re.fullmatch(r"(.+\.jsonl):(\d+)", given)) and not Path(given).exists():
            return self._one_line(Path(one[1]), int(one[2]))
        name, _, function = given.partition("::")
        path = Path(name)
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        if function and path.suffix not in _SINGLE:
            raise InputError(f"{given}: only a source file can be followed by '::' and a function")
        if path.is_dir():
            return self._folder_of_many(path)
        if not path.is_file():
            raise InputError(f"{path}: not a regular file")
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
            found += self._folder(place) if place.is_dir() else self._lines(place)
        return found

    def _folder(self, folder: Path) -> Iterator[_Found]:
        if self._is_repeated(folder):
            return
        try:
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
        empty = True
        try:
            with path.open("rb") as lines:
                for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE), b""), 1):
                    if len(line) == MAX_LINE:
                        raise InputError(f"{path}:{number}: the line is longer than {MAX_LINE >> 20} MiB")
                    if not line.strip():
                        continue
                    empty = False
                    try:
                        yield _read_line(path, number, line, self.tasks)
                    except InputError as error:
                        self._leave_out(error)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        if empty:
            self._leave_out(InputError(f"{path}: no kernels in this file; each line is one JSON object"))

    def _one_line(self, path: Path, wanted: int) -> list[_Found]:
        try:
            with path.open("rb") as lines:
                line = next((line for number, line in enumerate(lines, 1) if number == wanted), b"")
        except FileNotFoundError:
            raise InputError(f"{path}: no such file or folder") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        if not line.strip():
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


def _submissions(root: Path) -> Iterator[Path]:
    """Yield kernel folders and JSON Lines files under ``root``, sorted; nothing inside a kernel folder is looked at."""
    if (root / MANIFEST).is_file():
        yield root
        return
    for child in sorted(root.iterdir()):
        if child.name.startswith((".", "__")):
            continue
        if child.is_dir() and not child.is_symlink():  # a link may lead back up
            yield from _submissions(child)
        elif child.suffix == ".jsonl" and child.is_file():
            yield child


def _read_folder(folder: Path, tasks: Collection[str]) -> _Found:
    manifest = folder / MANIFEST
    declared = yamlfile.read(manifest, KernelFile)
    if declared.source is not None:
        raise InputError(f"{manifest}:{_line_of(manifest, 'source')}: source: only JSON Lines carry it; use a file")
    try:
        _check(declared, tasks)
        files = _sources(folder)
        file, function = entries.resolve(declared.entry, files)
    except _Wrong as wrong:
        raise InputError(f"{manifest}:{_line_of(manifest, wrong.key)}: {wrong}") from None
    except entries.EntryError as error:
        raise InputError(f"{manifest}:{_line_of(manifest, 'entry')}: entry: {error}") from None
    return _found(declared, Path(os.path.abspath(folder)).name, file, function, files, str(folder), _posix(folder))


def _read_single(path: Path, function: str, task: str | None, tasks: Collection[str]) -> _Found:
    if task is None:
        beside = path.parent / MANIFEST
        hint = f", or give its folder {path.parent}" if beside.is_file() else ""
        raise InputError(f"{path}: a single file does not say which task it solves; add --task ID{hint}")
    declared = KernelFile(task=task, language=_SINGLE[path.suffix], entry=path.name)
    try:
        _check(declared, tasks)
        files = {path.name: _text(path)}
        wanted = f"{path.name}::{function}" if function else path.name
        file, function = entries.resolve(wanted, files, default=task)
    except (_Wrong, entries.EntryError) as error:
        raise InputError(f"{path}: {error}") from None
    name = path.stem if path.stem != "kernel" else path.resolve().parent.name
    return _found(declared, name, file, function, files, str(path), _posix(path.with_suffix("")))


def _read_line(path: Path, number: int, line: bytes, tasks: Collection[str]) -> _Found:
    where = f"{path}:{number}"
    try:
        data = json.loads(line.decode("utf-8-sig").strip())
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not valid JSON: {error.msg} (column {error.colno})") from None
    except (RecursionError, ValueError):  # an integer of 5,000 digits is a ValueError
        raise InputError(f"{where}: not a JSON object that can be read") from None
    if not isinstance(data, dict):
        raise InputError(f"{where}: expected a JSON object, got {type(data).__name__}")
    try:
        declared = KernelFile.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{where}: {yamlfile.describe(error.errors()[0], KernelFile)}") from None
    if declared.source is None:
        raise InputError(f"{where}: source: this key is required")
    if len(declared.source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InputError(f"{where}: source: larger than {MAX_BYTES >> 20} MiB")
    name, separator, _ = declared.entry.partition("::")
    file = name if separator or name.endswith(".py") else "kernel.py"
    if not file.endswith(".py") or PurePosixPath(file).name != file or not file.isprintable() or len(file) > 200:
        raise InputError(f"{where}: entry: '{file}' is not the plain name of a .py file")
    files = {file: declared.source}
    try:
        _check(declared, tasks)
        file, function = entries.resolve(declared.entry, files)
    except _Wrong as wrong:
        raise InputError(f"{where}: {wrong}") from None
    except entries.EntryError as error:
        raise InputError(f"{where}: entry: {error}") from None
    name = f"{declared.task}-{number}"
    place = _posix(path.with_suffix("")) / (declared.id or name)
    return _found(declared, name, file, function, files, where, place)


class _Wrong(Exception):
    """A value of a submission is not acceptable; ``key`` says which."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}" if key else message)
        self.key = key


def _check(declared: KernelFile, tasks: Collection[str]) -> None:
    try:
        declared.model_dump_json()
    except ValueError:  # an escape such as \\ud800 alone: JSON lets it in, UTF-8 does not let it out
        raise _Wrong("", "holds half of a surrogate pair, which no text can") from None
    if declared.task not in tasks:
        raise _Wrong("task", f"unknown task '{declared.task}'; {nearest(declared.task, tasks)}")
    if declared.language not in _SUPPORTED:
        known = " and ".join(f"'{language}'" for language in _SUPPORTED)
        raise _Wrong("language", f"language '{declared.language}' is not supported yet; {known} are")


def _found(
    declared: KernelFile, name: str, file: str, function: str, files: dict[str, str], origin: str, place: PurePosixPath
) -> _Found:
    kernel = Kernel(
        id=declared.id or identifier(name),
        task=declared.task,
        language=declared.language,
        file=file,
        function=function,
        home=declared.home,
        provenance=declared.provenance,
        files=files,
        origin=origin,
    )
    return _Found(kernel, place)


def _sources(folder: Path) -> dict[str, str]:
    """Return the text of every source file under ``folder`` by its relative path, sorted."""
    files: dict[str, str] = {}
    total = 0
    inside = folder.resolve()
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith(".") or path.suffix not in _SUFFIXES:
                continue
            if inside not in path.resolve().parents:  # a stranger's submission must not pull in the user's files
                raise InputError(f"{path}: a link that leads out of the kernel's folder; put the file itself there")
            total += path.stat().st_size
            if total > MAX_BYTES:
                raise InputError(
                    f"{folder}: the sources are larger than {MAX_BYTES >> 20} MiB; keep data out of a kernel's folder"
                )
            files[path.relative_to(folder).as_posix()] = _text(path)
    return files


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: not a regular file")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _line_of(manifest: Path, key: str) -> int:
    """Return the line (from 1) on which a top-level key of a YAML file stands; 1 if it is not there."""
    pattern = re.compile(rf"""^["']?{re.escape(key)}["']?\s*:""")
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), 1):
        if pattern.match(line):
            return number
    return 1


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
