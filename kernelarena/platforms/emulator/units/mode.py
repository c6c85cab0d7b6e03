"""The MODE register, as it stands where an instruction is, and the instructions that read and write it.

Nothing here changes while a wave runs: a program that sets the register does so once, before it computes, and what
comes after is decoded for what the register holds then (:func:`~kernelarena.platforms.emulator.load` sees to it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.assembly import Register, Statement, Symbol
from kernelarena.platforms.emulator.assembly.operands import EXEC
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.state import Group

NAMES = ("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32")
"""What this module knows."""
_ALL_DENORMALS = 0xF << 4
_DX10_CLAMP, _IEEE = 1 << 8, 1 << 9
_OVERFLOW = 23
_FP16_OVFL = 1 << _OVERFLOW


@dataclass(frozen=True)
class Mode:
    """What the MODE register holds, by the ISA guides' section of that name.

    Attributes
    ----------
    bits
        All of it.
    """

    bits: int = _ALL_DENORMALS | _DX10_CLAMP | _IEEE

    @property
    def flushes(self) -> bool:
        """Whether denormals of some width are taken for zeros, or become zeros."""
        return self.bits & _ALL_DENORMALS != _ALL_DENORMALS

    @property
    def saturates(self) -> bool:
        """Whether what is too large for float16, or for 8 bits, becomes the largest number there is (FP16_OVFL)."""
        return bool(self.bits & _FP16_OVFL)

    @property
    def saturating(self) -> Mode:
        """The same with that set."""
        return Mode(self.bits | _FP16_OVFL)


def sets_saturation(statement: Statement) -> bool:
    """Return whether a statement sets FP16_OVFL, and nothing else: what Triton does where a kernel casts to 8 bits."""
    if statement.mnemonic != "s_setreg_imm32_b32":
        return False
    field = _field(statement, 0)
    return field == ("HW_REG_MODE", _OVERFLOW, 1) and getattr(statement.operands[1].value, "value", None) == 1


def decode_mode(statement: Statement, mode: Mode) -> Instruction | None:
    """Return an instruction that reads the register, or writes to it what it holds.

    Parameters
    ----------
    statement
        The statement.
    mode
        What the register holds, also once the statement is done.

    Raises
    ------
    Unsupported
        If it is a write that changes something, or about another register.
    """
    if statement.mnemonic in ("s_round_mode", "s_denorm_mode"):
        raise Unsupported(statement.text)
    if statement.mnemonic not in NAMES:
        return None
    reading = statement.mnemonic == "s_getreg_b32"
    name, first, width = _field(statement, 1 if reading else 0)
    if name != "HW_REG_MODE":
        raise Unsupported(statement.text)
    field = mode.bits >> first & ((1 << width) - 1)
    if reading:
        target = statement.operands[0].value
        if not isinstance(target, Register) or target.first >= EXEC:
            raise Unsupported(statement.text)
        number, bits = target.first, np.uint32(field)
        return Instruction(
            statement, "scalar", lambda group: group.set_scalar(number, np.full(group.count, bits)), (), target.all
        )
    value = getattr(statement.operands[1].value, "value", None)
    if value != field:
        raise Unsupported(statement.text)
    return Instruction(statement, "control", _nothing)


def _field(statement: Statement, operand: int) -> tuple[str, int, int]:
    """Return the name, first bit and width of a ``hwreg(…)`` operand."""
    value = statement.operands[operand].value
    text = value.text if isinstance(value, Symbol) else ""
    parts = [part.strip() for part in text.removeprefix("hwreg(").removesuffix(")").split(",")]
    if not text.startswith("hwreg("):
        raise Unsupported(statement.text)
    first, width = (int(parts[1], 0), int(parts[2], 0)) if len(parts) == 3 else (0, 32)
    return parts[0], first, width


def _nothing(group: Group) -> None:
    """Change nothing."""
