"""The operands of an instruction, as text has them and as the machine wants them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

SCALAR, VECTOR, ACCUMULATION = 0, 256, 512
"""Where each register file begins in the one numbering that all registers share."""
FLAT_SCRATCH, VCC, M0, EXEC, SCC = 102, 106, 124, 126, 128

_FILES = {"s": SCALAR, "v": VECTOR, "a": ACCUMULATION, "ttmp": 108}
_NAMED = {
    "vcc": (VCC, 2), "vcc_lo": (VCC, 1), "vcc_hi": (VCC + 1, 1),
    "exec": (EXEC, 2), "exec_lo": (EXEC, 1), "exec_hi": (EXEC + 1, 1),
    "flat_scratch": (FLAT_SCRATCH, 2), "flat_scratch_lo": (FLAT_SCRATCH, 1), "flat_scratch_hi": (FLAT_SCRATCH + 1, 1),
    "xnack_mask": (104, 2), "xnack_mask_lo": (104, 1), "xnack_mask_hi": (105, 1), "m0": (M0, 1),
}  # fmt: skip
LOCAL_APERTURE, PRIVATE_APERTURE = 1 << 48, 1 << 49
"""Where flat addresses of local and private memory begin: no addresses of a host process."""
_CONSTANTS = {"src_shared_base": LOCAL_APERTURE, "src_private_base": PRIVATE_APERTURE}
_ONE = re.compile(r"(s|v|a|ttmp)(\d+)$")
_RANGE = re.compile(r"(s|v|a|ttmp)\[(\d+)(?::(\d+))?\]$")
_INTEGER = re.compile(r"-?(0x[0-9a-f]+|\d+)$", re.IGNORECASE)
_FLOAT = re.compile(r"-?(\d+\.\d*|\.\d+)(e[+-]?\d+)?$|-?\d+e[+-]?\d+$", re.IGNORECASE)


@dataclass(frozen=True)
class Register:
    """One register, or several that follow one another.

    Attributes
    ----------
    first
        In the numbering that all files share.
    count
        How many.
    """

    first: int
    count: int = 1

    @property
    def scalar(self) -> bool:
        """Whether a wave has one value of it, and not one a lane."""
        return self.first < VECTOR

    @property
    def all(self) -> tuple[int, ...]:
        """The number of each."""
        return tuple(range(self.first, self.first + self.count))


@dataclass(frozen=True)
class Constant:
    """A number in the text: an inline constant or a literal; a float is known by its decimal point."""

    value: int | float


@dataclass(frozen=True)
class Symbol:
    """Anything else: a label, an expression over addresses, ``off``, the name of a hardware register."""

    text: str


Value = Register | Constant | Symbol


@dataclass(frozen=True)
class Operand:
    """A value and what is done to it on its way in."""

    value: Value
    negated: bool = False
    absolute: bool = False
    signed: bool = False


@lru_cache(maxsize=1 << 14)
def parse_operand(text: str) -> Operand:
    """Read one operand.

    Examples
    --------
    >>> parse_operand("-|v3|")
    Operand(value=Register(first=259, count=1), negated=True, absolute=True, signed=False)
    """
    negated = absolute = signed = False
    while True:
        if text.startswith("sext(") and text.endswith(")"):
            signed, text = True, text[5:-1]
        elif text.startswith("neg(") and text.endswith(")"):
            negated, text = True, text[4:-1]
        elif text.startswith("abs(") and text.endswith(")"):
            absolute, text = True, text[4:-1]
        elif text.startswith("|") and text.endswith("|") and len(text) > 2:
            absolute, text = True, text[1:-1]
        elif text.startswith("-") and not _is_number(text):
            negated, text = True, text[1:]
        else:
            return Operand(_parse_value(text), negated, absolute, signed)


def _is_number(text: str) -> bool:
    return bool(_INTEGER.match(text) or _FLOAT.match(text))


def _parse_value(text: str) -> Value:
    if found := _ONE.match(text):
        return Register(_FILES[found[1]] + int(found[2]))
    if found := _RANGE.match(text):
        first, last = int(found[2]), int(found[3] or found[2])
        return Register(_FILES[found[1]] + first, last - first + 1)
    if text in _NAMED:
        return Register(*_NAMED[text])
    if _INTEGER.match(text):
        return Constant(int(text, 0))
    if text in _CONSTANTS:
        return Constant(_CONSTANTS[text])
    if _FLOAT.match(text):
        return Constant(float(text))
    return Symbol(text)
