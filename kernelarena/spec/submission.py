"""What one submission is: a folder, a single file, a line of JSON Lines or an entry of a list, read into a ``Kernel``.

What a submission says about itself is checked here (its task, its language, that its entry exists), because that is
the user's input. What its program does is not: a kernel that does not even parse is a result, which the compile gate
reports as ``syntax-error``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kernelarena.errors import InputError, nearest, quoted
from kernelarena.spec import entry as entries
from kernelarena.spec import jsonlines, textfile, yamlfile
from kernelarena.spec.kernel import Kernel, KernelFile, Language
from kernelarena.spec.places import refusal

MANIFEST = "kernel.yaml"
LIST = "kernels.yaml"
"""Declares several kernels whose sources are the same: a family's, which are one file to read."""
MAX_BYTES = 1 << 20
"""Sources of one kernel may not be larger than this, together: 1 MiB."""
MAX_FILES = 1_000
"""Source files of one kernel."""
LANGUAGES = {".py": Language.TRITON, ".hip": Language.HIP, ".cu": Language.CUDA}
"""What single files are written in, by suffix."""

_SUFFIXES = frozenset({".py", ".txt", ".json", ".h", ".hpp", ".cuh", ".cu", ".hip", ".cpp"})


@dataclass(frozen=True)
class Submission:
    """A submission that has been read, before it has an id that is unique in the run."""

    kernel: Kernel
    place: PurePosixPath
    """Absolute; tells clashing ids apart."""


def read_folder(folder: Path, tasks: Collection[str]) -> Submission:
    """Return the kernel of a folder with a ``kernel.yaml``.

    Raises
    ------
    InputError
        If it is wrong.
    """
    manifest = yamlfile.Document(folder / MANIFEST)
    declared = manifest.fit(KernelFile)
    if declared.source is not None:
        raise manifest.error("source", _NO_SOURCE)
    wrong = _mistakes(declared, tasks)
    files = _sources(folder)
    named = _entries(declared, files, wrong)
    if wrong:
        raise InputError(*(manifest.problem(key, message) for key, message in wrong))
    return _found(declared, Path(os.path.abspath(folder)).name, named, files, str(folder), _posix(folder))


def listed(path: Path) -> tuple[yamlfile.Document, list[KernelFile]]:
    """Return a ``kernels.yaml``, and what it declares: each entry with the keys that they share.

    Raises
    ------
    InputError
        If it cannot be read, or an entry is wrong.
    """
    manifest = yamlfile.Document(path)
    shared = {key: value for key, value in manifest.data.items() if key != "kernels"}
    items = manifest.data.get("kernels")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise manifest.error("kernels", "expected a list of mappings, {task: …, entry: …}")
    if not items:
        raise manifest.error("kernels", "may not be empty")
    declared, wrong = [], []
    for number, item in enumerate(items):
        try:
            one = yamlfile.fit({**shared, **item}, KernelFile)
            if one.source is not None:
                wrong.append(manifest.problem(_at(number, item, ("source",)), _NO_SOURCE))
            declared.append(one)
        except yamlfile.Unfit as unfit:
            wrong += [manifest.located(_at(number, item, place), text) for place, text in unfit.mistakes]
    if wrong:
        raise InputError(*dict.fromkeys(wrong))  # what is shared and wrong is wrong once
    return manifest, declared


def read_list(path: Path, tasks: Collection[str], task: str | None = None) -> Iterator[Submission | InputError]:
    """Yield the kernels of a ``kernels.yaml``, or those of one task, and what is wrong with the others.

    Raises
    ------
    InputError
        If it cannot be read, or declares none.
    """
    manifest, declared = listed(path)
    chosen = [(number, one) for number, one in enumerate(declared) if task is None or one.task == task]
    if not chosen:
        known = {one.task for one in declared}
        raise manifest.error("kernels", f"none is for the task '{task}'; {nearest(str(task), known)}")
    folder = path.parent
    files = _sources(folder)
    for number, one in chosen:
        wrong = _mistakes(one, tasks)
        named = _entries(one, files, wrong)
        item = manifest.data["kernels"][number]
        if wrong:
            yield InputError(*(manifest.problem(_at(number, item, (key,)), message) for key, message in wrong))
            continue
        name = f"{one.task}-{Path(os.path.abspath(folder)).name}"
        yield _found(one, name, named, files, str(folder), _posix(folder) / name)


def _at(number: int, item: dict[Any, Any], place: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return where in the file a key of an entry stands: in the entry, unless it is one that they share."""
    shared = bool(place) and place[0] not in item and place[0] in _SHAREABLE
    return place if shared else ("kernels", number, *place)


_SHAREABLE = KernelFile.model_fields.keys() - {"task", "entry"}
_NO_SOURCE = "only JSON Lines carry it; use a file"


def read_single(path: Path, function: str, task: str | None, tasks: Collection[str]) -> Submission:
    """Return the kernel in a source file, which is for ``task``; the function may be left open (empty).

    Raises
    ------
    InputError
        If it is wrong.
    """
    if task is None:
        beside = path.parent / MANIFEST
        hint = f", or give its folder {path.parent}" if beside.is_file() else ""
        raise InputError(
            f"{path}: a single file does not say which task it solves; add --task ID{hint} (check --static needs none)"
        )
    odd = f"{str(path)!r}: its name holds characters that cannot be shown; rename it"
    wrong = [] if path.name.isprintable() else [odd]
    files = {path.name: "" if wrong else _text(path)}
    in_python = path.suffix == ".py" and _builds_extension(files[path.name])
    declared = KernelFile(task=task, language=Language.CUDA if in_python else LANGUAGES[path.suffix], entry=path.name)
    wrong = [*(f"{path}: {key}: {message}" for key, message in _mistakes(declared, tasks)), *wrong]
    if wrong:
        raise InputError(*wrong)
    wanted = f"{path.name}::{function}" if function else path.name
    try:
        named = {"entry": entries.resolve(wanted, files, default=task)}
    except entries.EntryError as error:
        raise InputError(f"{path}: {error}") from None
    name = path.stem if path.stem != "kernel" else path.resolve().parent.name
    return _found(declared, name, named, files, str(path), _posix(path.with_suffix("")))


def read_line(path: Path, number: int, line: bytes | None, tasks: Collection[str]) -> Submission:
    """Return the kernel on a line (from 1) of a JSON Lines file.

    Raises
    ------
    InputError
        If it is wrong.
    """
    where = f"{path}:{number}"
    declared = jsonlines.parse(where, line)
    if declared.source is None:
        raise InputError(f"{where}: source: this key is required")
    wrong = _mistakes(declared, tasks)
    if len(declared.source.encode()) > MAX_BYTES:
        wrong.append(("source", f"larger than {MAX_BYTES >> 20} MiB"))
    name, separator, _ = declared.entry.partition("::")
    suffix = next((suffix for suffix, its in LANGUAGES.items() if its is declared.language), ".py")
    default = "kernel" + (".py" if _builds_extension(declared.source) else suffix)
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
    if file.endswith(entries.SUFFIXES) and not file.endswith(".py") and not declared.language.is_cpp:
        wrong.append(("entry", _NO_SUCH_LANGUAGE.format(quoted(file), declared.language)))
    return wrong


_NO_SUCH_LANGUAGE = "{} is no source file of language '{}'"
_NO_EXTENSION = f"{_NO_SUCH_LANGUAGE}: it builds no extension (torch.utils.cpp_extension)"


def _builds_extension(source: str) -> bool:
    """Return whether Python code hands C++ to PyTorch to build, so that it is a kernel in that."""
    return "cpp_extension" in source


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
    file = found["entry"][0] if "entry" in found else ""
    if declared.language.is_cpp and file.endswith(".py") and not _builds_extension(files.get(file, "")):
        wrong.append(("entry", _NO_EXTENSION.format(quoted(file), declared.language)))
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
) -> Submission:
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
    return Submission(kernel, place)


def _sources(folder: Path) -> dict[str, str]:
    """Return the text of every source file under ``folder`` by its relative path, folder by folder."""
    files: dict[str, str] = {}
    total = 0
    inside = folder.resolve()
    waiting = children(folder)
    while waiting:
        path = waiting.pop(0)
        if path.is_dir():
            waiting += children(path)
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


def children(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted, without what is hidden or made by machines, and links to folders."""
    try:
        return sorted(child for child in folder.iterdir() if not _is_passed_over(child))
    except OSError as error:
        raise refusal(folder, error) from None


def _is_passed_over(path: Path) -> bool:
    if path.name.startswith("."):
        return True
    return path.is_dir() and (path.name.startswith("__") or path.is_symlink())  # a link may lead back up
