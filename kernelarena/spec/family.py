"""Families: what the tasks of a group share is written once, and each member says only what differs.

``tasks/pointwise/unary.family.yaml`` holds any keys of a task; ``tasks/pointwise/acosh/task.yaml`` begins with
``family: unary``. What a member says itself wins: mappings (``dims``, ``inputs``, ``work``) are merged key by key,
everything else replaces what the family says. ``{id}`` in the family's strings stands for the member's id.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from kernelarena.errors import nearest
from kernelarena.spec.yamlfile import Document

KEY = "family"
SUFFIX = ".family.yaml"
_ID = "{id}"


class Member(Document):
    """A task's file on top of its family's; messages name the file that says what is wrong.

    Parameters
    ----------
    own
        The task's file, which names a family.

    Raises
    ------
    InputError
        If there is no such family in the task's group, or it cannot be read.
    """

    def __init__(self, own: Document) -> None:
        name, group = own.data[KEY], own.path.parent.parent
        if not isinstance(name, str):
            raise own.error(KEY, f"expected the name of a family, got {name!r}")
        path = group / f"{name}{SUFFIX}"
        if not path.is_file():
            known = [file.name.removesuffix(SUFFIX) for file in group.glob(f"*{SUFFIX}")]
            raise own.error(KEY, f"there is no file {path}; {nearest(name, known)}")
        self.path = own.path
        self._own, self._shared = own, _family(path, path.stat().st_mtime_ns)
        if KEY in self._shared.data:
            raise self._shared.error(KEY, "a family cannot be a member of another")
        self._data = _merged(_named(self._shared.data, str(own.data.get("id", ""))), own.data)

    def find(self, place: tuple[Any, ...]) -> tuple[Path, int]:
        """Return the file that says most about a key, and the line; the task's own where both say as much."""
        (depth, line), (shared, other) = self._own.deepest(place), self._shared.deepest(place)
        return (self._own.path, line) if depth >= shared else (self._shared.path, other)


@functools.lru_cache
def _family(path: Path, _changed: int) -> Document:
    """Return a family's file; it is read once, however many members it has."""
    return Document(path)


def declaration(path: Path) -> Document:
    """Return a task's file, on top of its family's where it names one.

    Raises
    ------
    InputError
        If either cannot be read.
    """
    own = Document(path)
    return Member(own) if KEY in own.data else own


def _merged(shared: dict[Any, Any], own: dict[Any, Any]) -> dict[Any, Any]:
    """Return both, mappings key by key; what is only shared comes first, as inputs are in the order of arguments."""
    both = dict(shared)
    for key, value in own.items():
        inherited = both.get(key)
        both[key] = {**inherited, **value} if isinstance(inherited, dict) and isinstance(value, dict) else value
    return both


def _named(value: Any, name: str) -> Any:
    """Put a member's id where the family's strings leave room for it."""
    match value:
        case str():
            return value.replace(_ID, name)
        case dict():
            return {key: _named(each, name) for key, each in value.items()}
        case list():
            return [_named(each, name) for each in value]
    return value
