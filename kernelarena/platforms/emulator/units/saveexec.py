"""Scalar instructions that keep EXEC and change it: ``s_and_saveexec_b64`` and its kin."""

from __future__ import annotations

from collections.abc import Callable

from kernelarena.platforms.emulator.assembly import Register, Statement
from kernelarena.platforms.emulator.assembly.operands import EXEC, SCC
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, vital
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.scalar import scalar_reader

_CHANGES: dict[str, Callable[[Array, Array], Array]] = {
    "and": lambda source, exec_: source & exec_,
    "or": lambda source, exec_: source | exec_,
    "xor": lambda source, exec_: source ^ exec_,
    "andn2": lambda source, exec_: source & ~exec_,
    "orn2": lambda source, exec_: source | ~exec_,
    "nand": lambda source, exec_: ~(source & exec_),
    "nor": lambda source, exec_: ~(source | exec_),
    "xnor": lambda source, exec_: ~(source ^ exec_),
    "andn1": lambda source, exec_: ~source & exec_,
    "orn1": lambda source, exec_: ~source | exec_,
}
NAMES = {f"s_{name}_saveexec_b64": change for name, change in _CHANGES.items()}
"""Mnemonics that keep the old EXEC."""
WRITE_NAMES = {"s_andn1_wrexec_b64": _CHANGES["andn1"], "s_andn2_wrexec_b64": _CHANGES["andn2"]}
"""Mnemonics that keep the new one."""


def decode_saveexec(statement: Statement) -> Instruction:
    """Return the instruction."""
    target, source = (operand.value for operand in statement.operands)
    if not isinstance(target, Register):
        raise Unsupported(statement.text)
    keeps_old = statement.mnemonic in NAMES
    change = (NAMES if keeps_old else WRITE_NAMES)[statement.mnemonic]
    read = scalar_reader(statement.operands[1], KINDS["b64"], statement)
    first = target.first

    def step(group: Group) -> None:
        before = group.pair(EXEC).copy()
        after = change(read(group), before)
        group.set_pair(EXEC, after)
        group.condition = after != 0
        group.set_pair(first, before if keeps_old else after)

    reads = source.all if isinstance(source, Register) else ()
    return Instruction(statement, "scalar", step, reads, (*target.all, SCC, EXEC, EXEC + 1), vital(reads))
