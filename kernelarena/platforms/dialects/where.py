"""Which chips have something."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.spec import Platform

NVIDIA, AMD = "cuda", "rocm"
KNOWN = frozenset({NVIDIA, AMD})
"""Backends that the tables speak of. Of another vendor's chip nothing is claimed, neither that it has something nor
that it lacks it."""


@dataclass(frozen=True)
class Where:
    """The chips that have something: those of a backend, or only some of its architectures.

    Attributes
    ----------
    backend
        As platform files call it.
    architectures
        As platform files call them; empty for all.
    """

    backend: str
    architectures: tuple[str, ...] = ()

    def lacks(self, platform: Platform) -> bool:
        """Return whether ``platform`` is known not to be among them."""
        if platform.backend not in KNOWN:
            return False
        if platform.backend != self.backend:
            return True
        return bool(self.architectures) and platform.arch not in self.architectures


@dataclass(frozen=True)
class Construct:
    """Something that is written in source and that not every chip has.

    Attributes
    ----------
    what
        What it is, in words that complete "uses …".
    names
        How it is spelled; ``*`` stands for any rest.
    where
        Who has it, any of these.
    instead
        What to write to the same end.
    """

    what: str
    names: tuple[str, ...]
    where: tuple[Where, ...]
    instead: str

    def lacking(self, platform: Platform) -> bool:
        """Return whether ``platform`` is known not to have it."""
        return all(where.lacks(platform) for where in self.where)

    def called(self, name: str) -> bool:
        """Return whether ``name`` is one of its spellings."""
        return any(name == each or (each.endswith("*") and name.startswith(each[:-1])) for each in self.names)


def find(name: str, table: tuple[Construct, ...]) -> Construct | None:
    """Return the first of a table that is spelled so."""
    return next((construct for construct in table if construct.called(name)), None)
