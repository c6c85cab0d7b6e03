"""The least time that a task can take on a chip, from the task's work and the chip's figures."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.spec.base import StrEnum
from kernelarena.spec.platform import Platform
from kernelarena.spec.shape import Shape
from kernelarena.spec.task import Task


class Roof(StrEnum):
    """What binds a shape on a chip."""

    MEMORY = "memory"
    COMPUTE = "compute"


@dataclass(frozen=True)
class Roofline:
    """The bound for one shape on one chip."""

    seconds: float
    """No kernel is faster than this where its operands come from device memory, s."""
    roof: Roof
    """The resource that takes that long."""


def roofline(task: Task, shape: Shape, platform: Platform) -> Roofline | None:
    r"""Return the roofline bound: :math:`\max(\text{flops} / \text{peak}, \text{bytes} / \text{bandwidth})`.

    Parameters
    ----------
    task, shape
        Whose work model, in FLOP and B, is taken.
    platform
        Whose dense peak for the shape's dtype, in FLOP/s, and memory bandwidth, in B/s, are taken. Without a peak for
        that dtype the memory's bound alone holds: a chip may compute in another dtype than it stores.

    Returns
    -------
    Roofline or None
        None where the platform file gives no bandwidth.

    References
    ----------
    Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore architectures",
    Communications of the ACM 52(4), 2009.
    """
    if platform.memory is None or platform.memory.bandwidth is None:
        return None
    by_memory = task.bytes(shape) / platform.memory.bandwidth
    peak = platform.peak_flops.get(shape.dtype)
    by_compute = task.flops(shape) / peak if peak else 0.0
    return Roofline(by_compute, Roof.COMPUTE) if by_compute > by_memory else Roofline(by_memory, Roof.MEMORY)
