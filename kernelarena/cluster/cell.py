"""A cell to be judged, the order in which cells are handed out, and the verdicts of those that nobody can judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernelarena.platforms.backend import Availability, backend_for
from kernelarena.spec import Evidence, Kernel, Platform, Reason, Status, TaskSource, Verdict


@dataclass(frozen=True)
class Cell:
    """One kernel on one platform, with all that a judge needs."""

    kernel: Kernel
    task: TaskSource
    platform: Platform

    @property
    def key(self) -> tuple[str, str]:
        """Kernel id, platform id."""
        return self.kernel.id, self.platform.id


def ordered(cells: Iterable[Cell], available: Mapping[str, Availability]) -> list[Cell]:
    """Return ``cells`` in the order of their hand-out.

    Those that run (measured, emulated) come before those that are only compiled: they take longest, and what takes
    long and starts last is what everyone waits for. Within either, a kernel's cells stay together, so that its
    column of the report is complete early.
    """
    return sorted(cells, key=lambda cell: available[cell.platform.id].evidence[:1] == (Evidence.COMPILED,))


def unobtainable(cell: Cell, available: Availability, require: Evidence | None) -> Verdict | None:
    """Return the verdict of a cell that cannot be judged here, or None for one that can.

    Parameters
    ----------
    cell
        The cell.
    available
        What evidence of its platform can be had.
    require
        The evidence that the run insists on, if any.
    """
    if require is not None and require not in available.evidence:
        why = available.why_not or "nothing here provides it"
        return infra(cell, Reason.DEVICE_UNAVAILABLE, f"evidence '{require}' is required: {why}")
    if available.evidence:
        return None
    return _ended(cell, Status.SKIPPED, _lacking(cell.platform), available.why_not)


def infra(cell: Cell, reason: Reason, detail: str, *, attempts: int = 1, duration: float = 0.0) -> Verdict:
    """Return a verdict that says something around the kernel failed; it is never held against the kernel."""
    return _ended(cell, Status.INFRA, reason, detail, attempts=attempts, duration=duration)


def _ended(
    cell: Cell, status: Status, reason: Reason, detail: str, *, attempts: int = 1, duration: float = 0.0
) -> Verdict:
    return Verdict(
        task=cell.kernel.task,
        kernel=cell.kernel.id,
        language=cell.kernel.language,
        home=cell.kernel.home,
        platform=cell.platform.id,
        status=status,
        reason=reason,
        detail=detail,
        attempts=attempts,
        duration_s=duration,
    )


def _lacking(platform: Platform) -> Reason:
    """Say what keeps all evidence of a platform out of reach: the toolchain, where software alone would do."""
    backend = backend_for(platform)
    software = platform.budget is not None or (backend is not None and backend.triton_target(platform) is not None)
    return Reason.TOOLCHAIN_MISSING if software else Reason.DEVICE_UNAVAILABLE
