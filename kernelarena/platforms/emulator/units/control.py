"""Branches, barriers, waits, the end, and what has no effect on values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement, Symbol
from kernelarena.platforms.emulator.assembly.operands import EXEC, SCC, VCC
from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.fault import FaultKind, Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, vital
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.symbols import CODE

Condition = Callable[[Group], Array]
Labels = dict[str, int]

_CONDITIONS: dict[str, tuple[Condition, tuple[int, ...]]] = {
    "scc0": (lambda group: ~group.condition, (SCC,)),
    "scc1": (lambda group: group.condition, (SCC,)),
    "vccz": (lambda group: group.pair(VCC) == 0, (VCC, VCC + 1)),
    "vccnz": (lambda group: group.pair(VCC) != 0, (VCC, VCC + 1)),
    "execz": (lambda group: group.pair(EXEC) == 0, ()),
    "execnz": (lambda group: group.pair(EXEC) != 0, ()),
}
_NOTHING = {
    "s_nop", "s_setprio", "s_sleep", "s_sethalt", "s_inst_prefetch", "s_icache_inv", "s_dcache_inv", "s_dcache_wb",
    "s_ttracedata", "s_code_end", "v_nop", "buffer_inv", "buffer_wbl2", "buffer_wbinvl1", "buffer_wbinvl1_vol",
    "s_sendmsg", "s_incperflevel", "s_decperflevel",
}  # fmt: skip
"""Scheduling, caches, debugging: what they do cannot be seen here."""

NAMES = (
    *sorted(_NOTHING), "s_branch", *(f"s_cbranch_{name}" for name in _CONDITIONS), "s_endpgm", "s_barrier", "s_waitcnt",
    "s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_trap",
)  # fmt: skip
"""What this module knows."""


def decode_control(statement: Statement, labels: Labels, here: int) -> Instruction | None:
    """Return the instruction, or None where the statement is none of this kind.

    Parameters
    ----------
    statement
        The statement.
    labels
        Where they are.
    here
        Where the statement itself is.
    """
    name = statement.mnemonic
    if name in _NOTHING:
        return Instruction(statement, "control", _pass)
    if name == "s_branch":
        return _branch(statement, _label(statement.operands[0], labels, statement))
    if name.startswith("s_cbranch_") and name[10:] in _CONDITIONS:
        return _branch_if(statement, _label(statement.operands[0], labels, statement), here)
    if name == "s_endpgm":
        return Instruction(statement, "control", reach=_end, ends_block=True)
    if name == "s_barrier":
        return Instruction(statement, "control", reach=_barrier(here), ends_block=True)
    if name == "s_getpc_b64":
        return _program_counter(statement)
    if name in ("s_swappc_b64", "s_setpc_b64"):
        return _jump(statement, here)
    if name == "s_trap":
        return Instruction(statement, "control", reach=_trap, ends_block=True)
    if name == "s_waitcnt":
        return _wait(statement)
    return None


def _trap(batch: Batch, group: Group) -> None:
    raise AccessError(FaultKind.TRAP, 0, "the kernel gives up: an assertion, or a place it never means to come to")


def _pass(group: Group) -> None:
    return None


def _label(operand: Operand, labels: Labels, statement: Statement) -> int:
    value = operand.value
    if not isinstance(value, Symbol) or value.text not in labels:
        raise Unsupported(statement.text)
    return labels[value.text]


def _branch(statement: Statement, target: int) -> Instruction:
    def go(batch: Batch, group: Group) -> None:
        batch.counter[group.take] = target

    return Instruction(statement, "control", reach=go, ends_block=True)


def _branch_if(statement: Statement, target: int, here: int) -> Instruction:
    condition, reads = _CONDITIONS[statement.mnemonic[10:]]

    def go(batch: Batch, group: Group) -> None:
        batch.counter[group.take] = np.where(condition(group), target, here + 1)

    return Instruction(statement, "control", None, reads, (), vital(reads), go, ends_block=True)


def _end(batch: Batch, group: Group) -> None:
    batch.ended[group.take] = True


def _program_counter(statement: Statement) -> Instruction:
    target = statement.operands[0].value
    if not isinstance(target, Register):
        raise Unsupported(statement.text)
    # 0, since distances are addresses: see ``symbols``.
    return Instruction(
        statement, "scalar", lambda group: group.set_pair(target.first, np.uint64(0)), (), target.all
    )  # fmt: skip


def _jump(statement: Statement, here: int) -> Instruction:
    """Call or return: to an address in a pair of registers, keeping where to come back to."""
    *kept, source = (operand.value for operand in statement.operands)
    if not isinstance(source, Register) or not all(isinstance(one, Register) for one in kept):
        raise Unsupported(statement.text)
    back = np.uint64(CODE + 4 * (here + 1))
    first = source.first
    targets = [one for one in kept if isinstance(one, Register)]

    def go(batch: Batch, group: Group) -> None:
        batch.counter[group.take] = (group.pair(first).astype(np.int64) - CODE) >> 2
        for target in targets:
            group.set_pair(target.first, np.full(group.count, back))

    writes = tuple(number for target in targets for number in target.all)
    return Instruction(statement, "control", None, source.all, writes, vital(source.all), go, ends_block=True)


def _barrier(here: int) -> Callable[[Batch, Group], None]:
    def wait(batch: Batch, group: Group) -> None:
        batch.counter[group.take] = here
        batch.waiting[group.take] = True

    return wait


def _wait(statement: Statement) -> Instruction:
    counters = [
        (name, left) for name, left in statement.modifiers.items() if name in ("vmcnt", "lgkmcnt") and left is not None
    ]

    def settle(batch: Batch, group: Group) -> None:
        for name, left in counters:
            assert isinstance(left, int)
            batch.examiner.free(batch.waits.settle(group, name, left))

    return Instruction(statement, "control", reach=settle)
