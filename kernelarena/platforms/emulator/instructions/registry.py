"""The table of instructions that are functions of their operands."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from kernelarena.platforms.emulator.instructions.kinds import Signature

Function = TypeVar("Function", bound=Callable[..., Any])
Unit = Literal["vector", "scalar", "matrix"]


@dataclass(frozen=True)
class Entry:
    """What one instruction does.

    Attributes
    ----------
    mnemonic
        Without the suffix of an encoding.
    unit
        What computes it.
    signature
        Kinds of operands; None for ``matrix``, which gets whole registers.
    function
        Over arrays.
    """

    mnemonic: str
    unit: Unit
    signature: Signature | None
    function: Callable[..., Any]


_table: dict[str, dict[str, Entry]] = {}
_EVERY = ""


def _enter(entry: Entry, targets: tuple[str, ...]) -> None:
    entries = _table.setdefault(entry.mnemonic, {})
    for target in targets or (_EVERY,):
        if target in entries:
            raise ValueError(f"{entry.mnemonic} is in the table twice")
        entries[target] = entry


def vector(mnemonic: str, signature: str, *, targets: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Enter a function of lanes' values; see the package for the contract."""
    return _entering("vector", mnemonic, Signature.of(signature), targets)


def scalar(mnemonic: str, signature: str, *, targets: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Enter a function of waves' values; see the package for the contract."""
    return _entering("scalar", mnemonic, Signature.of(signature), targets)


def matrix(mnemonic: str, *, targets: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Enter a function of whole registers; see the package for the contract."""
    return _entering("matrix", mnemonic, None, targets)


def takes(function: Callable[..., Any], names: Iterable[str]) -> bool:
    """Return whether a function has parameters of these names."""
    try:
        known = inspect.signature(function).parameters
    except ValueError:  # one of NumPy's own
        return not list(names)
    return all(name in known for name in names)


def _entering(
    unit: Unit, mnemonic: str, signature: Signature | None, targets: tuple[str, ...]
) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        _enter(Entry(mnemonic, unit, signature, function), targets)
        return function

    return enter


@cache
def _filled() -> dict[str, dict[str, Entry]]:
    for tables in ("scalar", "vector"):
        importlib.import_module(f"kernelarena.platforms.emulator.instructions.{tables}")
    return _table


def lookup(mnemonic: str, target: str) -> Entry | None:
    """Return what an instruction does on a chip, or None where that is not known."""
    entries = _filled().get(mnemonic, {})
    return entries.get(target) or entries.get(_EVERY)


def mnemonics(target: str) -> Iterator[Entry]:
    """Yield the entries that a chip has, by name."""
    for name in sorted(_filled()):
        entry = lookup(name, target)
        if entry is not None:
            yield entry
