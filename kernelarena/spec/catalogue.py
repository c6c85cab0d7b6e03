"""The tasks that are known: every ``<root>/<group>/<op>/`` with a ``task.yaml``, and a ``reference.py`` if need be."""

from __future__ import annotations

import ast
import fnmatch
import functools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from kernelarena.errors import InputError, nearest
from kernelarena.spec import paths, textfile
from kernelarena.spec.family import declaration
from kernelarena.spec.places import Place, look, refusal
from kernelarena.spec.submission import LIST, MANIFEST, listed
from kernelarena.spec.task import TaskSource
from kernelarena.spec.task_file import TaskFile

_DECLARATION = "task.yaml"
_REFERENCE = "reference.py"
_SUITE = "suite:"
_LARGEST = 1 << 20
"""Bytes of a reference."""


def load_tasks(extra: Iterable[Path] = ()) -> Mapping[str, TaskSource]:
    """Find every task. A user's are read now; the package's own, which are many, when they are asked for.

    Parameters
    ----------
    extra
        More folders of tasks, read after the package's own and those of ``KERNELARENA_PATH``.

    Returns
    -------
    mapping of str to TaskSource
        By id, in the order of the folders. A task of a later folder replaces one of the same id.

    Raises
    ------
    InputError
        If a folder holds no task, a declaration or a reference is wrong, or one folder holds an id twice.
    """
    own, *others = paths.folders("tasks", extra)
    added: dict[str, TaskSource] = {}
    for root in others:
        added.update(_load_root(root))
    return Tasks(_shipped(own), added)


class Tasks(Mapping[str, TaskSource]):
    """Tasks by id.

    Parameters
    ----------
    folders
        Of those that are read when they are asked for.
    added
        Those that have been read; they replace others of the same id.
    """

    def __init__(self, folders: Mapping[str, Path], added: Mapping[str, TaskSource]) -> None:
        self._folders = folders
        self._added = added
        self._ids = dict.fromkeys([*folders, *added])

    def __getitem__(self, task_id: str) -> TaskSource:
        return self._added.get(task_id) or _read_once(self._folders[task_id])

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def _shipped(root: Path) -> dict[str, Path]:
    """Return the folders of the package's own tasks, which are called as their tasks are."""
    return {folder.name: folder for folder in _task_folders(root)}


@functools.cache
def _read_once(folder: Path) -> TaskSource:
    return _load(folder)


def select(patterns: Iterable[str], tasks: Mapping[str, TaskSource]) -> list[TaskSource]:
    """Return the tasks that any of the patterns names, each once, in the order of ``tasks``.

    Parameters
    ----------
    patterns
        Globs over ids (``soft*``), ``suite:NAME``, or several of these separated by commas. None at all selects
        every task.
    tasks
        What there is, from `load_tasks`.

    Raises
    ------
    InputError
        If one of the patterns matches nothing; it names the nearest words that would have.
    """
    return [tasks[task_id] for task_id in matching(patterns, tasks)]


def matching(patterns: Iterable[str], tasks: Mapping[str, TaskSource]) -> list[str]:
    """Return the ids of the tasks that :func:`select` would, and read none that need not be."""
    words = [word.strip() for pattern in patterns for word in pattern.split(",") if word.strip()]
    chosen = set().union(*(_matching(word, tasks) for word in words)) if words else set(tasks)
    return [task_id for task_id in tasks if task_id in chosen]


def kernels_of(source: TaskSource) -> list[Path]:
    """Return the kernels that lie beside a task, as `load_kernels` takes them (only on the host that read the task).

    Those of its own are folders, in ``<op>/kernels/``; those that its group's lists declare for it are
    ``<group>/kernels/<name>/kernels.yaml::<task>``.
    """
    folder = Path(source.origin)
    lists = sorted(folder.parent.glob(f"kernels/*/{LIST}"))
    shared = [path for path in lists if source.task.id in _listed_tasks(path, path.stat().st_mtime_ns)]
    return [*_kernel_folders(folder), *(path.with_name(f"{LIST}::{source.task.id}") for path in shared)]


def kernel_name(place: Path) -> str:
    """Return what one of a task's kernels is called: the name of its folder."""
    return (place.parent if "::" in place.name else place).name


def shipped_kernels() -> list[Path]:
    """Return every kernel that comes with the package, sorted by task, as `load_kernels` takes them."""
    folders = _shipped(paths.shipped("tasks")).values()
    return [kernel for folder in folders for kernel in kernels_of(_read_once(folder))]


@functools.lru_cache
def _listed_tasks(path: Path, _changed: int) -> frozenset[str]:
    """Return the tasks that a list has kernels for; it is read once, however many tasks ask."""
    return frozenset(one.task for one in listed(path)[1])


def _load_root(root: Path) -> dict[str, TaskSource]:
    place = look(root)
    if place is not Place.FOLDER:
        raise InputError(f"{root}: {'no such folder of tasks' if place is Place.NOTHING else f'is {place}, no folder'}")
    tasks: dict[str, TaskSource] = {}
    for folder in _task_folders(root):
        source = _load(folder)
        if (other := tasks.get(source.task.id)) is not None:
            raise InputError(f"{folder / _DECLARATION}: the id '{source.task.id}' is already that of {other.origin}")
        tasks[source.task.id] = source
    if not tasks:
        raise InputError(f"{root}: holds no task; one is a folder <group>/<op>/ with {_DECLARATION} and {_REFERENCE}")
    return tasks


def _task_folders(root: Path) -> list[Path]:
    """Return the folders two levels down that hold either file of a task: half a task is an error, not nothing."""
    folders = [folder for group in _inside(root) for folder in _inside(group)]
    return [folder for folder in folders if any(map(os.path.lexists, (folder / _DECLARATION, folder / _REFERENCE)))]


def _inside(folder: Path) -> list[Path]:
    """Return the folders in a folder, sorted. One that may not be read is an error, not an empty one."""
    try:
        return sorted(child for child in folder.iterdir() if child.is_dir())
    except OSError as error:
        raise refusal(folder, error) from None


def _kernel_folders(task: Path) -> list[Path]:
    return sorted(path.parent for path in task.glob(f"kernels/*/{MANIFEST}"))


def _load(folder: Path) -> TaskSource:
    document = declaration(folder / _DECLARATION)
    declared = document.fit(TaskFile)
    path, wanted = folder / _REFERENCE, declared.undeclared
    if not wanted:
        if look(path) is not Place.NOTHING:
            raise document.error("reference", f"is declared, and {path} is there as well; delete one of them")
        return TaskSource(task=declared.task, reference=declared.text(), origin=str(folder), file=_DECLARATION)
    text = textfile.read(path, limit=_LARGEST, missing=_MISSING.format(" or ".join(sorted(wanted))))
    _check_reference(path, text, wanted)
    if declared.inputs is not None:  # behind the file's own text, whose lines messages name
        text = f"{text.rstrip()}\n\n\n{declared.text()}"
    return TaskSource(task=declared.task, reference=text, origin=str(folder))


_MISSING = "no such file; {} is neither declared in " + _DECLARATION + " nor written in plain PyTorch"


def _check_reference(path: Path, text: str, wanted: Collection[str]) -> None:
    """Raise unless the text defines the functions that are wanted, and no other's; it is read, never run."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        where = f":{error.lineno}" if error.lineno else ""
        raise InputError(f"{path}{where}: not valid Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # a NUL byte; brackets without end
        raise InputError(f"{path}: not valid Python: {error or 'nested too deeply'}") from None
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    for name, signature in (("inputs", "inputs(shape, rng)"), ("reference", "reference(**inputs)")):
        if name in wanted and name not in functions:
            line = len(text.splitlines()) or 1
            raise InputError(f"{path}:{line}: the file ends without a function {signature}; define it at the top level")
        if name not in wanted and name in functions:
            line = functions[name].lineno
            raise InputError(f"{path}:{line}: {name} is declared in {_DECLARATION} as well; delete one of them")
    if "inputs" in wanted:
        taken = functions["inputs"].args
        if len(taken.posonlyargs) + len(taken.args) != 2 or taken.kwonlyargs or taken.vararg or taken.kwarg:
            raise InputError(f"{path}:{functions['inputs'].lineno}: inputs must take exactly (shape, rng)")
    if functions["reference"].args.posonlyargs:
        line = functions["reference"].lineno
        raise InputError(f"{path}:{line}: reference is called by keyword; remove the '/' from its parameters")


def _matching(word: str, tasks: Mapping[str, TaskSource]) -> set[str]:
    if word.startswith(_SUITE):
        suite = word[len(_SUITE) :]
        found = {task_id for task_id, source in tasks.items() if suite in source.task.suites}
        if not found:
            known = {name for source in tasks.values() for name in source.task.suites}
            raise InputError(f"no task belongs to the suite '{suite}'; {nearest(suite, known)}")
        return found
    found = {task_id for task_id in tasks if fnmatch.fnmatchcase(task_id, word)}
    if not found:
        glob = any(sign in word for sign in "*?[")
        raise InputError(f"{'no task matches' if glob else 'unknown task'} '{word}'; {nearest(word, tasks)}")
    return found
