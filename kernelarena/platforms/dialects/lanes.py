"""How C++ kernels let the lanes of a warp (wavefront) talk to each other.

Names and argument positions are those of the CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Warp Vote
Functions", and of ROCm's HIP documentation, "HIP C++ language extensions", which has the same functions with 64-bit
masks and results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernelarena.platforms.dialects.where import AMD, NVIDIA


@dataclass(frozen=True)
class Shuffle:
    """Positions of the arguments of a shuffle.

    Attributes
    ----------
    lane
        The lane, or the offset to it.
    width
        How many lanes make a group; may be left out, and is the whole warp then.
    relative
        Whether ``lane`` is an offset from the caller's own.
    mask
        The lanes that take part; None where there is no such argument.
    """

    lane: int
    width: int
    relative: bool
    mask: int | None = None


SHUFFLES = {
    **{f"__shfl{kind}": Shuffle(lane=1, width=2, relative=bool(kind)) for kind in ("", "_up", "_down", "_xor")},
    **{
        f"__shfl{kind}_sync": Shuffle(lane=2, width=3, relative=bool(kind), mask=0)
        for kind in ("", "_up", "_down", "_xor")
    },
}

MASKED = frozenset(
    {
        *(name for name, shuffle in SHUFFLES.items() if shuffle.mask is not None),
        "__all_sync",
        "__any_sync",
        "__ballot_sync",
        "__match_all_sync",
        "__match_any_sync",
        "__syncwarp",
    }
)
"""Functions whose first argument says which lanes take part, a bit each."""

MASK_BITS = {NVIDIA: 32, AMD: 64}
"""How wide that argument is, by backend, whatever the width of the warp. HIP's ``amd_warp_sync_functions.h`` refuses
any other width by a static assertion, for wave32 as for wave64; CUDA's functions convert what they are given."""

BALLOTS = frozenset(
    {"__activemask", "__ballot", "__ballot_sync", "__match_all_sync", "__match_any", "__match_any_sync"}
)
"""Functions that answer with a bit for each lane of the warp."""

BITS = {"__brev": "__brevll", "__clz": "__clzll", "__ffs": "__ffsll", "__popc": "__popcll"}
"""Functions that look at 32 bits, and their twins that look at 64."""

WIDTHS = frozenset({"warpSize", "__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"})
"""Names by which device code asks for the number of lanes."""

THREADS = frozenset({"threadIdx", "hipThreadIdx_x", "thread_rank"})
"""Names from which a thread's index comes."""

LOCK_STEP = frozenset({AMD})
"""Backends the lanes of whose warps execute each instruction together, so that what one stores another may load by the
next (AMD CDNA and RDNA ISA guides, "Program Organization"). NVIDIA's have a program counter each since compute
capability 7.0 (CUDA C++ Programming Guide, "Independent Thread Scheduling")."""
ORDERS = re.compile(r"sync|barrier|fence|wait", re.IGNORECASE)
"""What the names of functions that order memory or threads have in them, of either vendor and of most libraries."""
