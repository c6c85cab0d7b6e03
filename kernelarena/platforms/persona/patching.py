"""Replaces attributes of modules and classes, and puts them back."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes replaced for the length of a ``with`` block, in the order given and undone in reverse."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, **values: Any) -> None:
        """Replace attributes of ``owner``; those that it lacks are added."""
        self.update(owner, values)

    def update(self, owner: Any, values: Mapping[str, Any]) -> None:
        """Replace attributes of ``owner`` by name."""
        for name, value in values.items():
            self._undo.append((owner, name, vars(owner).get(name, _ABSENT)))
            setattr(owner, name, value)

    def __enter__(self) -> Patches:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for owner, name, value in reversed(self._undo):
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        self._undo.clear()
