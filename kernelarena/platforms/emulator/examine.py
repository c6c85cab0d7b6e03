"""Looks at the registers of an instruction before it runs: whether they are there, and whether they are defined."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kernelarena.platforms.emulator.assembly.operands import EXEC, VECTOR
from kernelarena.platforms.emulator.fault import FaultKind
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.lanes import LANES
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.shadow import Shadow, ShadowView
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.waits import Waits


class RegisterError(AccessError):
    """As for memory; the index is ``wave * 64 + lane`` within the group."""


class Examiner:
    """Checks and follows the registers that are not simply there.

    Parameters
    ----------
    shadow, waits
        Of the batch.
    doubtful
        Registers that either of the two has something on; an instruction that touches none needs no examination.
    """

    def __init__(self, shadow: Shadow, waits: Waits, doubtful: set[int]) -> None:
        self._shadow = shadow
        self._waits = waits
        self.doubtful = doubtful

    def examine(self, instruction: Instruction, group: Group) -> None:
        """Check an instruction's registers, and note what it leaves undefined.

        Raises
        ------
        RegisterError
            If one has not arrived, or if an undefined one is acted upon.
        """
        if self._waits.due:
            for register in instruction.reads:
                self._check_arrived(register, group, "")
            for register in instruction.writes:
                self._check_arrived(register, group, instruction.queue)
        self._check_vital(instruction, group)
        view = ShadowView(self._shadow, group)
        if instruction.shade is not None:
            instruction.shade(view, group)
        else:
            for register in instruction.writes:
                self._shadow.define(group, register, None, group.exec)
        self.free(instruction.writes)

    def view(self, group: Group) -> ShadowView:
        """Return the undefined bits of a group's registers."""
        return ShadowView(self._shadow, group)

    def _check_arrived(self, register: int, group: Group, queue: str) -> None:
        """Check that a register is there, or that whatever comes to it next comes after by the same queue."""
        waiting = self._waits.outstanding(group, register)
        if waiting is not None and waiting[0] != queue:
            queue, waves = waiting
            words = f"{named(register)} is used before s_waitcnt {queue} says that it has been loaded"
            raise RegisterError(FaultKind.MISSING_WAIT, int(np.flatnonzero(waves)[0]) * 64, words)

    def _check_vital(self, instruction: Instruction, group: Group) -> None:
        for register, vital in instruction.vital.items():
            bits = self._shadow.undefined(group, register)
            if bits is None:
                continue
            wrong = np.broadcast_to(bits & np.uint32(vital) != 0, (group.count, LANES))
            if register >= VECTOR:
                wrong = wrong & group.exec
            if wrong.any():
                words = f"{named(register)} is used, and nothing has written it"
                raise RegisterError(FaultKind.UNINITIALISED_REGISTER, int(np.flatnonzero(wrong)[0]), words)

    def _settle(self, register: int) -> None:
        if self._shadow.knows(register) and register not in self._waits.due:
            self.doubtful.discard(register)

    def free(self, registers: Iterable[int]) -> None:
        """Look again at registers that may no longer be in doubt."""
        for register in registers:
            self._settle(register)


def named(register: int) -> str:
    """Return a register's name."""
    if register >= 2 * VECTOR:
        return f"a{register - 2 * VECTOR}"
    if register >= VECTOR:
        return f"v{register - VECTOR}"
    special = {106: "vcc_lo", 107: "vcc_hi", 124: "m0", EXEC: "exec_lo", EXEC + 1: "exec_hi", 128: "scc"}
    return special.get(register, f"s{register}")
