"""One line of assembly text: an instruction with its operands and modifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kernelarena.platforms.emulator.assembly.operands import Operand, parse_operand

_COMMA = re.compile(r",\s*(?![^\[(]*[\])])")
_SPACE = re.compile(r"\s+(?![^\[(]*[\])])")
_BARE = re.compile(r"(offset|sc[01]|nt|glc|slc)\b")  # what an instruction without operands may begin with
_ENCODINGS = ("_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp")
Modifier = int | str | tuple[int, ...] | None


@dataclass(frozen=True)
class Place:
    """Where in the source an instruction comes from."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Statement:
    """An instruction as written.

    Attributes
    ----------
    text
        The line without comment.
    mnemonic
        Without the suffix of an encoding.
    encoding
        That suffix without its underscore: ``e32``, ``e64``, ``dpp``, ``sdwa``, or empty.
    operands
        Left to right.
    modifiers
        By name; None for one that is a bare word, as ``offen``.
    place
        From ``.loc``.
    """

    text: str
    mnemonic: str
    encoding: str
    operands: tuple[Operand, ...]
    modifiers: dict[str, Modifier] = field(default_factory=dict)
    place: Place | None = None

    def number(self, name: str, default: int = 0) -> int:
        """Return a modifier that is a number."""
        value = self.modifiers.get(name, default)
        return value if isinstance(value, int) else default

    def bits(self, name: str, count: int, default: int = 0) -> tuple[int, ...]:
        """Return a modifier that is a list, filled up to ``count``."""
        value = self.modifiers.get(name)
        given = value if isinstance(value, tuple) else ()
        return (*given, *[default] * (count - len(given)))


def parse_statement(text: str, place: Place | None) -> Statement:
    """Read an instruction."""
    name, _, rest = text.partition(" ")
    mnemonic, encoding = _without_encoding(name)
    rest = rest.strip()
    if mnemonic == "s_waitcnt":  # its one operand is a list of words
        return Statement(text, mnemonic, encoding, (), _counters(rest), place)
    operands: list[Operand] = []
    modifiers: dict[str, Modifier] = {}
    for piece in _COMMA.split(rest) if rest else ():
        first, *others = _SPACE.split(piece)
        if not operands and _BARE.match(first):
            others = [first, *others]
        else:
            operands.append(parse_operand(first))
        for word in others:
            modifier, _, value = word.partition(":")
            modifiers[modifier] = _modifier(value)
    return Statement(text, mnemonic, encoding, tuple(operands), modifiers, place)


def _without_encoding(name: str) -> tuple[str, str]:
    for suffix in _ENCODINGS:
        if name.startswith("v_") and name.endswith(suffix):
            return name.removesuffix(suffix), suffix[1:]
    return name, ""


def _modifier(value: str) -> Modifier:
    if not value:
        return None
    if value.startswith("["):
        return tuple(int(part, 0) for part in value[1:-1].split(","))
    try:
        return int(value, 0)
    except ValueError:
        return value


def _counters(text: str) -> dict[str, Modifier]:
    found: dict[str, Modifier] = {name: int(value, 0) for name, value in re.findall(r"(\w+)\((\w+)\)", text)}
    if found:
        return found
    code = int(text, 0)  # the field as the encoding has it
    return {"vmcnt": code & 15 | (code >> 14 & 3) << 4, "expcnt": code >> 4 & 7, "lgkmcnt": code >> 8 & 15}
