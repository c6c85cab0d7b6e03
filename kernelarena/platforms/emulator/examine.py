"""Looks at the registers of an instruction before it runs: are they there, and are they defined?"""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.assembly.operands import EXEC, VECTOR
from kernelarena.platforms.emulator.carries import Undefined
from kernelarena.platforms.emulator.fault import FaultKind
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.shadow import Shadow, as_mask_words
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
            for register in instruction.touches:
                self._check_arrived(register, group)
        sources = [self._shadow.undefined(group, register) for register in instruction.reads]
        undefined: Undefined = None
        if any(source is not None for source in sources):
            self._check_vital(instruction, sources, group)
            undefined = instruction.carry(group, sources)
        self._define(instruction, group, undefined)

    def _check_arrived(self, register: int, group: Group) -> None:
        waiting = self._waits.outstanding(group, register)
        if waiting is not None:
            queue, waves = waiting
            words = f"{named(register)} is used before s_waitcnt {queue} says that it has been loaded"
            raise RegisterError(FaultKind.MISSING_WAIT, int(np.flatnonzero(waves)[0]) * 64, words)

    def _check_vital(self, instruction: Instruction, sources: list[Undefined], group: Group) -> None:
        for register, bits in zip(instruction.reads, sources, strict=True):
            if bits is None or register not in instruction.vital:
                continue
            wrong = np.broadcast_to(bits & np.uint32(instruction.vital[register]) != 0, (group.count, 64))
            if register >= VECTOR:
                wrong = wrong & group.exec
            if wrong.any():
                words = f"{named(register)} is used, and nothing has written it"
                raise RegisterError(FaultKind.UNINITIALISED_REGISTER, int(np.flatnonzero(wrong)[0]), words)

    def _define(self, instruction: Instruction, group: Group, undefined: Undefined) -> None:
        scalars = [register for register in instruction.writes if register < VECTOR]
        words = self._scalar_words(instruction, group, undefined, scalars)
        for register in instruction.writes:
            if self._shadow.knows(register) and undefined is None:
                self._settle(register)
                continue
            if register < VECTOR:
                self._shadow.define(group, register, words.get(register), None)
            else:
                mask = None if instruction.unit == "matrix" else group.exec
                bits = None if undefined is None else np.broadcast_to(undefined, (group.count, 64))
                self._shadow.define(group, register, bits, mask)
            self._settle(register)

    def _settle(self, register: int) -> None:
        if self._shadow.knows(register) and register not in self._waits.due:
            self.doubtful.discard(register)

    @staticmethod
    def _scalar_words(
        instruction: Instruction, group: Group, undefined: Undefined, scalars: list[int]
    ) -> dict[int, Array]:
        """Return the undefined bits of the scalar registers that are written."""
        if undefined is None or not scalars:
            return {}
        if instruction.unit == "vector" and len(scalars) >= 2:
            low, high = as_mask_words(
                undefined & np.where(group.exec, np.uint32(0xFFFF_FFFF), np.uint32(0)), group.count
            )
            return {register: (low, high)[register & 1] for register in scalars}
        one = np.broadcast_to(undefined, (group.count, undefined.shape[-1]))[:, 0]
        return dict.fromkeys(scalars, one)

    def free(self, registers: set[int]) -> None:
        """Take note that registers have arrived."""
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
