"""The least time that physics leaves a kernel: whoever is faster has not done the work."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.protocol.timing.estimate import Estimate
from kernelarena.spec import Platform
from kernelarena.spec.base import StrEnum

ALGEBRA = 4.0
"""By so much may an algorithm undercut the multiplications that a task's work model counts: Winograd's F(4×4, 3×3)
needs a quarter of a direct convolution's (A. Lavin, S. Gray, *Fast Algorithms for Convolutional Neural Networks*, CVPR
2016); Strassen's saves less."""


class Limit(StrEnum):
    """What binds."""

    MEMORY = "memory"
    COMPUTE = "compute"
    LAUNCH = "launch"


@dataclass(frozen=True)
class Work:
    """What one call has to do, whoever does it."""

    flops: float
    bytes: float
    """Read and written at least once, B."""
    written: float = 0.0
    """Of them, written, B."""


@dataclass(frozen=True)
class Bound:
    """The least time for one call on one chip."""

    seconds: float
    limit: Limit
    resident: bool
    """Whether all that the call touches fits into the last-level cache: then a time below the *roofline* (which counts
    every byte as coming from memory) is no wonder, and only one below this bound is."""
    detail: str
    """Where the figure comes from, in words."""


def least_time(work: Work, platform: Platform, *, flushed: bool, launch: float = 0.0) -> Bound | None:
    r"""Return the least time in which a chip can do some work.

    It is what an honest kernel cannot undercut, and therefore laxer than the roofline that efficiency is measured by:

    .. math::

        \max\left(\frac{B - R}{bandwidth},\; \frac{F}{4 \max_{dtype} peak},\; t_{launch}\right)

    where :math:`R` are the bytes that need not cross the memory's pins while the clock runs. With caches flushed before
    the call, inputs have to come from memory, but as many written bytes as the last-level cache holds may still lie in
    it when the clock stops. Without a flush anything that fits may have been there before. The peak is the chip's
    highest of any dtype, since a kernel may compute in another than it stores, split numbers across tensor cores or
    use an algorithm with fewer operations: wrong results are for the correctness gate to find, not for this one.

    Parameters
    ----------
    work
        What has to be done.
    platform
        Whose peaks (FLOP/s), bandwidth (B/s) and cache (B) are taken.
    flushed
        Whether the inputs were out of the caches when the clock started.
    launch
        What an empty kernel was measured to take on this device in the same way, s.

    Returns
    -------
    Bound or None
        None where the platform file has neither a bandwidth nor a peak, and no launch was measured.
    """
    memory, peak = platform.memory, max(platform.peak_flops.values(), default=None)
    cache = memory.cache_bytes if memory is not None else None
    bounds = []
    if memory is not None and memory.bandwidth is not None:
        may_stay = work.written if flushed else work.bytes
        moved = work.bytes - (may_stay if cache is None else min(may_stay, cache))
        words = f"{_bytes(moved)} through memory at {_bytes(memory.bandwidth)}/s"
        bounds.append((moved / memory.bandwidth, Limit.MEMORY, words))
    if peak is not None:
        words = f"{work.flops:.3g} FLOP at {ALGEBRA:.0f} × {peak:.3g} FLOP/s"
        bounds.append((work.flops / (ALGEBRA * peak), Limit.COMPUTE, words))
    if launch > 0:
        bounds.append((launch, Limit.LAUNCH, "an empty kernel, measured"))
    if not bounds:
        return None
    seconds, limit, words = max(bounds)
    return Bound(seconds, limit, resident=cache is not None and work.bytes <= cache, detail=words)


def impossible(time: Estimate, bound: Bound) -> str:
    """Return why a time cannot be, or nothing where it can; the benefit of the doubt is the kernel's.

    Parameters
    ----------
    time
        The kernel's median, s. Its whole interval must lie below the bound.
    bound
        The least time.
    """
    if time.high >= bound.seconds:
        return ""
    return (
        f"{time.value * 1e6:.3g} µs is less than the {bound.seconds * 1e6:.3g} µs that the chip needs at the very "
        f"least ({bound.detail}): the work was not done while the clock ran"
    )


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"
