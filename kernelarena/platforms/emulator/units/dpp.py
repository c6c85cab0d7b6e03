"""Data-parallel primitives: a source whose lanes are taken from other lanes.

From the ISA guides, "VOP_DPP": each control says for every lane which lane it reads, and which lanes read none. A lane
that reads none, or one that EXEC disables, gets zero where BOUND_CTRL is set, and otherwise is not written.
"""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.assembly import Statement
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.lanes import LANES, Array

_ROW = 16
_lane = np.arange(LANES)
_in_row, _row = _lane % _ROW, _lane // _ROW


class LaneMove:
    """Where each lane reads from.

    Attributes
    ----------
    source
        ``int[64]``.
    valid
        ``bool[64]``: lanes that read any.
    enabled
        ``bool[64]``: lanes that the row and bank masks let through.
    zero_fill
        Whether an invalid lane gets zero (else it is not written).
    """

    def __init__(self, statement: Statement) -> None:
        self.source, self.valid = _pattern(statement)
        rows, banks = statement.number("row_mask", 15), statement.number("bank_mask", 15)
        self.enabled = ((rows >> _row & 1) & (banks >> _in_row // 4 & 1)).astype(np.bool_)
        self.zero_fill = "bound_ctrl" in statement.modifiers
        self._whole = bool(self.valid.all())
        self.selective = not self.enabled.all()

    def moved(self, bits: Array, exec_: Array, full: bool) -> Array:
        """Return a register's lanes as the instruction sees them; invalid ones read zero."""
        taken: Array = bits[:, self.source]
        if self._whole and full:
            return taken
        return np.where(self.readable(exec_), taken, 0)

    def readable(self, exec_: Array) -> Array:
        """Return which lanes read a lane that there is and that is enabled."""
        return self.valid & exec_[:, self.source]

    def mask(self, exec_: Array) -> Array:
        """Return which lanes are written."""
        written: Array = exec_ & self.enabled
        return written if self.zero_fill else written & self.readable(exec_)


def _pattern(statement: Statement) -> tuple[Array, Array]:
    for name, value in statement.modifiers.items():
        amount = value if isinstance(value, int) else 0
        if name == "quad_perm" and isinstance(value, tuple):
            return _lane // 4 * 4 + np.array(value)[_lane % 4], np.ones(LANES, np.bool_)
        if name == "row_shl":
            return _shifted(_in_row + amount)
        if name == "row_shr":
            return _shifted(_in_row - amount)
        if name == "row_ror":
            return _row * _ROW + (_in_row - amount) % _ROW, np.ones(LANES, np.bool_)
        if name in ("row_newbcast", "row_share"):
            return _row * _ROW + amount, np.ones(LANES, np.bool_)
        if name == "row_bcast":
            # Lane 15 of a row goes to the next row, lane 31 to the upper half.
            source = (_row * _ROW - 1) if amount == 15 else np.full(LANES, 31)
            valid = _row > 0 if amount == 15 else _lane > 31
            return np.where(valid, source, 0), valid
        if name == "row_mirror":
            return _row * _ROW + 15 - _in_row, np.ones(LANES, np.bool_)
        if name == "row_half_mirror":
            return _lane // 8 * 8 + 7 - _lane % 8, np.ones(LANES, np.bool_)
        if name in ("wave_shl", "wave_shr"):
            source = _lane + (1 if name == "wave_shl" else -1)
            return source % LANES, (source >= 0) & (source < LANES)
        if name in ("wave_rol", "wave_ror"):
            return (_lane + (1 if name == "wave_rol" else -1)) % LANES, np.ones(LANES, np.bool_)
    raise Unsupported(statement.text)


def _shifted(position: Array) -> tuple[Array, Array]:
    valid = (position >= 0) & (position < _ROW)
    return _row * _ROW + np.where(valid, position, 0), valid
