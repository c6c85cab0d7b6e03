"""How wide an access is, and how what is narrower than a register lies in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.units.transfer import scatter_registers


@dataclass(frozen=True)
class Width:
    """The form of an access.

    Attributes
    ----------
    size
        Bytes in memory.
    signed
        Whether a narrow load extends the sign.
    half
        ``lo`` or ``hi`` where only that half of a register is written or read; empty for all of it.
    """

    size: int
    signed: bool = False
    half: str = ""

    @property
    def registers(self) -> int:
        """How many registers hold it."""
        return max(1, self.size // 4)

    @property
    def bits(self) -> int:
        """The bits of a register that a store takes."""
        mask = (1 << 8 * min(self.size, 4)) - 1
        return mask << 16 if self.half == "hi" else mask

    def extended(self, values: Array) -> Array:
        """Return loaded values as registers hold them, before they are put into a half."""
        if not self.signed:
            return values
        shift = 32 - 8 * self.size
        wide: Array = (values << np.uint32(shift)).view(np.int32) >> np.int32(shift)
        return wide.view(np.uint32) & np.uint32(0xFFFF) if self.half else wide.view(np.uint32)

    def into(self, group: Registers, first: int, values: Array) -> None:
        """Write what was loaded into registers."""
        values = self.extended(values)
        if self.half == "lo":
            values = (group.vector(first)[..., None] & np.uint32(0xFFFF_0000)) | values
        elif self.half == "hi":
            values = (group.vector(first)[..., None] & np.uint32(0xFFFF)) | values << np.uint32(16)
        scatter_registers(group, first, values)

    def taken(self, values: Array) -> Array:
        """Return what a store takes from registers."""
        return values >> np.uint32(16) if self.half == "hi" else values


def _by_name() -> dict[str, Width]:
    found = {"dword": Width(4), "dwordx2": Width(8), "dwordx3": Width(12), "dwordx4": Width(16)}
    for name, size, signed in (("ubyte", 1, False), ("sbyte", 1, True), ("ushort", 2, False), ("sshort", 2, True)):
        found[name] = Width(size, signed)
    for name, size, signed in (("ubyte", 1, False), ("sbyte", 1, True), ("short", 2, False)):
        found[f"{name}_d16"] = Width(size, signed, "lo")
        found[f"{name}_d16_hi"] = Width(size, signed, "hi")
    return found


LOADS = _by_name()
"""By what follows ``…_load_``."""
STORES = {name: width for name, width in LOADS.items() if name.startswith("dword")} | {
    "byte": Width(1),
    "short": Width(2),
    "byte_d16_hi": Width(1, half="hi"),
    "short_d16_hi": Width(2, half="hi"),
}
"""By what follows ``…_store_``."""
