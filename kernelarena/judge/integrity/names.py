"""Which names have to mean what they meant before the kernel was loaded.

Kept as identities: of what a name holds in its module or class, of what a function consists of, and of what our own
closures close over. Looking again reads dictionaries and memory: it takes microseconds, and runs no code of a kernel's.
"""

from __future__ import annotations

import bisect
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter, eq, is_
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from kernelarena.judge.integrity.guts import Table, guts
from kernelarena.spec import Reason

# Functions below look here, and not where a kernel may put others.
__builtins__ = vars(builtins).copy()  # type: ignore[assignment]
_FUNCTIONS = (FunctionType, BuiltinFunctionType)
_METHODS = (*_FUNCTIONS, staticmethod, classmethod, property)
_CALLABLES = (*_METHODS, type)
_memory = attrgetter("raw")

Tag = tuple[str, Reason]
"""What something is called, and the reason that a change of it stands for."""


class _Namespace:
    """Names of one module or class, and what they held."""

    def __init__(self, owner: object, held: Mapping[Any, object]) -> None:
        self.owner = owner  # kept, so that its id stays its own
        self.held = held
        self.get: Callable[[Any], object] = held.get
        self.names: list[object] = []
        self.values: list[object] = []
        self.tags: list[Tag] = []
        self.table: Table | None = None
        self.first: dict[int, object] = {}
        """What names held before we replaced it, by position: it comes back when a platform's face is taken off."""

    def changed(self) -> Iterator[int]:
        """Yield the positions of names that hold something else."""
        if self.table is not None and self.table.same:
            return
        self.table = Table(self.held)
        if not all(map(is_, map(self.get, self.names), self.values)):
            for index, name in enumerate(self.names):
                now = self.get(name)
                if now is not self.values[index] and (now is None or now is not self.first.get(index)):
                    yield index


class Names:
    """A snapshot of names that must not change.

    What is added first keeps its tag: a function that is a clock and part of a watched module too is a clock.
    """

    def __init__(self) -> None:
        self._namespaces: dict[int, _Namespace] = {}
        self._functions: dict[int, tuple[object, Tag]] = {}
        self._views: list[Any] = []
        self._memory: list[bytes] = []
        self._owners: list[object] = []
        self._cells: list[tuple[Any, object, Tag]] = []
        self._classes: dict[int, tuple[Mapping[str, object], int, frozenset[str], frozenset[str] | None, Tag]] = {}
        self._known: set[tuple[int, object]] = set()
        self.loaded = 0
        """How many modules there were when the harness's own were last looked through."""
        self._spans: list[tuple[int, int, Tag]] = []

    def has(self, owner: object) -> bool:
        """Return whether anything of a module or a class is watched."""
        return id(owner) in self._namespaces

    def entry(self, owner: object, held: Mapping[Any, object], name: object, tag: Tag) -> None:
        """Watch one key of the namespace of ``owner``, and what it holds."""
        if (id(owner), name) in self._known or (value := held.get(name)) is None:
            return
        self._known.add((id(owner), name))
        space = self._namespaces.get(id(owner))
        if space is None:
            space = self._namespaces[id(owner)] = _Namespace(owner, held)
        space.names.append(name)
        space.values.append(value)
        space.tags.append(tag)
        self._value(value, tag)

    def module(self, module: ModuleType, reason: Reason, names: Iterable[str] | None = None) -> None:
        """Watch what a module holds: all functions and classes, or the names that are given and that it has."""
        held = vars(module)
        if names is None:
            names = [name for name, value in held.items() if isinstance(value, _CALLABLES)]
        for name in names:
            self.entry(module, held, name, (f"{module.__name__}.{name}", reason))

    def methods(self, cls: type, reason: Reason, label: str, *, closed: bool = False) -> None:
        """Watch the methods of a class, and that none is put before those that it inherits.

        Parameters
        ----------
        cls, reason, label
            The class, what a change stands for, and what the class is called.
        closed
            Whether nobody has a reason to give the class new methods either.
        """
        if id(cls) in self._classes:
            return
        held = vars(cls)
        for name, value in held.items():
            if isinstance(value, _METHODS) or (hasattr(type(value), "__get__") and not isinstance(value, type)):
                self.entry(cls, held, name, (f"{label}.{name}", reason))
        inherited = frozenset[str]().union(*(vars(base) for base in cls.__mro__[1:]))
        self._classes[id(cls)] = held, len(held), frozenset(held), None if closed else inherited, (label, reason)

    def _value(self, value: object, tag: Tag) -> None:
        for function in _functions_in(value):
            if id(function) in self._functions:
                continue
            self._functions[id(function)] = (function, tag)
            if type(function) is FunctionType or tag[1] is Reason.TIMER_TAMPERING:
                for view, then in guts(function):
                    self._views.append(view)
                    self._memory.append(then)
                    self._owners.append(function)
            if type(function) is FunctionType and (function.__module__ or "").startswith("kernelarena."):
                self._closure(function, tag)

    def _closure(self, function: FunctionType, tag: Tag) -> None:
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:  # not filled yet
                continue
            self._cells.append((cell, held, tag))
            self._value(held, tag)

    def function(self, value: object) -> Tag | None:
        """Return the tag of a function that is watched."""
        found = self._functions.get(id(value))
        return found and found[1]

    def at(self, address: int) -> Tag | None:
        """Return the tag of the watched function whose memory holds ``address``."""
        if not self._spans:
            self._spans = sorted(
                (start, start + function.__sizeof__(), tag) for start, (function, tag) in self._functions.items()
            )
        index = bisect.bisect_right(self._spans, address, key=lambda span: span[0]) - 1
        return self._spans[index][2] if index >= 0 and address < self._spans[index][1] else None

    def settle(self) -> None:
        """Take everything as it is now: what has been replaced up to here was replaced by us."""
        for space in self._namespaces.values():
            for index in [*space.changed()]:
                space.first.setdefault(index, space.values[index])
                space.values[index] = value = space.get(space.names[index])
                self._value(value, space.tags[index])
        self._memory = [*map(_memory, self._views)]
        self._cells = [(cell, cell.cell_contents, tag) for cell, _, tag in self._cells]
        for key, (held, _, _, inherited, tag) in self._classes.items():
            self._classes[key] = held, len(held), frozenset(held), inherited, tag

    @property
    def faceless(self) -> bool:
        """Whether all that we had replaced when things were settled has been put back."""
        replaced = [(space, index) for space in self._namespaces.values() for index in space.first]
        return bool(replaced) and all(space.get(space.names[i]) is space.first[i] for space, i in replaced)

    def changed(self) -> Iterator[tuple[str, Reason, object]]:
        """Yield label, reason and what is there now (None if that is not known) of all that is not as it was."""
        for space in self._namespaces.values():
            for index in space.changed():
                yield *space.tags[index], space.get(space.names[index])
        if not all(map(eq, map(_memory, self._views), self._memory)):
            for view, then, owner in zip(self._views, self._memory, self._owners, strict=True):
                if view.raw != then:
                    yield *self._functions[id(owner)][1], owner
        for cell, value, tag in self._cells:
            try:
                now = cell.cell_contents
            except ValueError:
                now = None
            if now is not value:
                yield *tag, now
        for held, count, before, inherited, tag in self._classes.values():
            if len(held) != count:
                for name, now in [*held.items()]:
                    if name not in before and (inherited is None or name in inherited) and isinstance(now, _METHODS):
                        yield f"{tag[0]}.{name}", tag[1], now


def _functions_in(value: object) -> Iterator[object]:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if type(value) is property:
        yield from (part for part in (value.fget, value.fset, value.fdel) if part is not None)
    elif type(value) in _FUNCTIONS:
        yield value
