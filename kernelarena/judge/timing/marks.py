"""How good the marks are that a device's time is taken with, found out on the device itself."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from kernelarena.platforms.opened import OpenedDevice

_REPEATED = 60
_MANY = 9
_PAUSE = 1e-3
"""Seconds in which the host enqueues a few launches."""


@dataclass(frozen=True)
class Marks:
    """What a time from mark to mark is worth.

    Attributes
    ----------
    step
        Seconds between one time and the next one that can be told from it.
    overhead
        Seconds that pass between two marks besides the work between them: until the device begins it and has noted
        that it is done.
    """

    step: float = 0.5e-6
    overhead: float = 0.0

    def between(self, seconds: float) -> float:
        """Return the seconds of the work between two marks, at least one step."""
        return max(seconds - self.overhead, self.step, 1e-9)


def marks_of(device: OpenedDevice) -> Marks:
    r"""Find out how good a device's marks are.

    What a time holds besides the work is the same for one launch and for several in a row; with :math:`t_n` the median
    time of :math:`n` launches of next to nothing, it is

    .. math::

        t_1 - \frac{t_n - t_1}{n - 1}

    which takes the gap between one launch and the next for work, a fraction of a microsecond too much. Without this, a
    kernel of ten microseconds looks a sixth slower than a profiler says it is.
    """
    stream = device.stream()
    nothing = torch.zeros(1, device=device.device)
    with device.on(stream):
        times = {count: [_time(device, stream, nothing, count) for _ in range(_REPEATED)] for count in (1, _MANY)}
    device.synchronise()
    one, many = (statistics.median(times[count]) for count in (1, _MANY))
    steps = [later - earlier for earlier, later in pairwise(sorted(times[1] + times[_MANY]))]
    return Marks(
        step=min((step for step in steps if step > 1e-10), default=0.5e-6),
        overhead=max(0.0, one - (many - one) / (_MANY - 1)),
    )


def _time(device: OpenedDevice, stream: object, nothing: torch.Tensor, count: int) -> float:
    start, end = device.marks(), device.marks()
    device.delay(_PAUSE)
    start.record(stream)
    for _ in range(count):
        nothing.zero_()
    end.record(stream)
    end.synchronize()
    return float(start.elapsed_time(end)) / 1e3
