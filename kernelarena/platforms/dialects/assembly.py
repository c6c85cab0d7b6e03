"""Inline assembly: whose it is, and which of its instructions are of some chips alone.

Sources: PTX ISA, "Instruction Set"; LLVM, "User Guide for AMDGPU Backend", instruction syntax; the ISA guides of CDNA
and RDNA for matrix instructions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernelarena.platforms.dialects.where import AMD, NVIDIA, Where
from kernelarena.spec import Platform


@dataclass(frozen=True)
class Assembly:
    """An assembly language.

    Attributes
    ----------
    name
        What it is called.
    statement
        What an instruction of it looks like, and none of another does.
    where
        Who assembles it.
    instructions
        Beginnings of instructions that are of fewer chips.
    """

    name: str
    statement: re.Pattern[str]
    where: Where
    instructions: tuple[tuple[str, Where], ...]

    def lacking(self, text: str, platform: Platform) -> bool:
        """Return whether ``platform`` is known not to assemble ``text``."""
        needs = [where for start, where in self.instructions if re.search(rf"(?<![\w.]){re.escape(start)}", text)]
        return any(where.lacks(platform) for where in needs[:1] or [self.where])


PTX = Assembly(
    "PTX",
    re.compile(
        r"(?:^|[;{}\n])\s*(?:@!?[%\w]+\s+)?"
        r"(?:\.(?:reg|pred|shared|local)\b|[a-z][a-z0-9]*(?:\.[a-z0-9_:]+)+[\s;{]|(?:trap|exit|brkpt)\s*;)|%%?(?:laneid|warpid|smid)\b"
    ),
    Where(NVIDIA),
    (
        ("wgmma.", Where(NVIDIA, ("sm_90",))),
        ("tcgen05.", Where(NVIDIA, ("sm_100",))),
        ("cp.async.bulk", Where(NVIDIA, ("sm_90", "sm_100"))),
        ("setmaxnreg.", Where(NVIDIA, ("sm_90", "sm_100"))),
        ("barrier.cluster.", Where(NVIDIA, ("sm_90", "sm_100"))),
    ),
)
GCN = Assembly(
    "GCN",
    re.compile(r"(?:^|[;\n])\s*(?:s|v|ds|global|buffer|flat|scratch|image|tbuffer)_[a-z][a-z0-9_]*"),
    Where(AMD),
    (
        ("v_mfma_", Where(AMD, ("gfx90a", "gfx942", "gfx950"))),
        ("v_smfmac_", Where(AMD, ("gfx942", "gfx950"))),
        ("v_wmma_", Where(AMD, ("gfx1100",))),
    ),
)


def language_of(text: str) -> Assembly | None:
    """Return whose assembly ``text`` is; None where it has no instruction, or those of a host's processor."""
    return next((language for language in (GCN, PTX) if language.statement.search(text)), None)
