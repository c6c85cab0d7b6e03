"""An instruction that is ready to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelarena.platforms.emulator.assembly import Statement

if TYPE_CHECKING:
    from kernelarena.platforms.emulator.batch import Batch
    from kernelarena.platforms.emulator.shadow import ShadowView
    from kernelarena.platforms.emulator.state import Group

Step = Callable[["Group"], None]
Shade = Callable[["ShadowView", "Group"], None]
Reach = Callable[["Batch", "Group"], None]


@dataclass(frozen=True)
class Instruction:
    """A statement and what it does.

    Attributes
    ----------
    statement
        As written.
    unit
        What counts it: ``scalar``, ``vector``, ``matrix``, ``lanes``, ``memory``, ``lds``, ``control``.
    step
        Does it to registers.
    reads, writes
        Registers, in the numbering that all files share.
    vital
        Registers among ``reads`` whose value the machine acts upon (addresses, conditions, what is stored), and which
        bits of them: one that nothing has written is a fault there, while elsewhere it makes the result undefined.
    reach
        What it does to a batch, instead of ``step``: memory, branches.
    shade
        Notes which bits of the results are undefined; None where all of them are defined.
    queue
        The in-order queue by which what it loads arrives; empty for none.
    ends_block
        Whether the waves may be elsewhere afterwards.
    """

    statement: Statement
    unit: str
    step: Step | None = None
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    vital: dict[int, int] = field(default_factory=dict)
    reach: Reach | None = None
    shade: Shade | None = None
    queue: str = ""
    ends_block: bool = False

    @property
    def touches(self) -> tuple[int, ...]:
        """Every register that it has to do with."""
        return (*self.reads, *self.writes)


WHOLE = 0xFFFF_FFFF


def vital(registers: tuple[int, ...] | list[int], bits: int = WHOLE) -> dict[int, int]:
    """Return registers as those whose bits are acted upon."""
    return dict.fromkeys(registers, bits)
