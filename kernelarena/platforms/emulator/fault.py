"""What a kernel can do wrong, told with the place where it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kernelarena.platforms.emulator.assembly import Place


class FaultKind(str, Enum):
    """Kinds of fault; hardware shows few of them."""

    ILLEGAL_READ = "illegal-read"
    ILLEGAL_WRITE = "illegal-write"
    MISALIGNED = "misaligned"
    UNINITIALISED_REGISTER = "uninitialised-register"
    UNINITIALISED_MEMORY = "uninitialised-memory"
    LDS_OUT_OF_BOUNDS = "lds-out-of-bounds"
    LDS_RACE = "lds-race"
    MISSING_WAIT = "missing-wait"
    DIVERGENT_BARRIER = "divergent-barrier"
    ENDLESS = "endless"
    TRAP = "trap"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Where:
    """Which of the grid's work-items.

    Attributes
    ----------
    workgroup
        Its indices, x y z.
    wave
        Within the workgroup.
    lane
        Within the wave; None where the wave as a whole is at fault.
    """

    workgroup: tuple[int, int, int]
    wave: int
    lane: int | None = None

    def __str__(self) -> str:
        lane = "" if self.lane is None else f" lane {self.lane}"
        return f"workgroup ({', '.join(map(str, self.workgroup))}) wave {self.wave}{lane}"


class Fault(Exception):
    """A kernel did what it must not, or what this machine does not model.

    Parameters
    ----------
    kind
        What sort of thing.
    words
        What happened, without the place.
    kernel
        Its name.
    instruction
        The text of the instruction.
    place
        The line of source that it comes from, where the compiler says it.
    where
        Which work-item; None where it is none in particular.
    """

    def __init__(
        self, kind: FaultKind, words: str, *, kernel: str = "", instruction: str = "",
        place: Place | None = None, where: Where | None = None,
    ) -> None:  # fmt: skip
        super().__init__(words)
        self.kind = kind
        self.words = words
        self.kernel = kernel
        self.instruction = instruction
        self.place = place
        self.where = where

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        doing = f" at `{self.instruction}`" if self.instruction else ""
        who = f", {self.where}" if self.where else ""
        kernel = f", kernel {self.kernel}" if self.kernel else ""
        return f"{place}{self.kind.value}: {self.words}{doing}{who}{kernel}"


class Unsupported(Exception):
    """What is not modelled: an instruction, or a mode of one, found when a program is loaded; or memory that lacks."""
