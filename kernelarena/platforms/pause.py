"""Keeping a stream busy for a given time: by a kernel that waits, or by work that is of no use to anyone.

``_sleep`` of a device module waits for so many ticks of the multiprocessors' clock; a module without it is given fills
of a buffer to do. How long either takes is measured with marks, where no property of the device tells it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

_TICKS = 1 << 20
"""Of the waiting kernel's clock, to learn how fast it runs: about a millisecond."""
_BYTES = 1 << 26
"""That one fill writes: tens of microseconds, many times what it takes to queue it."""
_FILLS = 16
"""Of which the time is taken, to learn what one takes."""
_MOST_FILLS = 4096
"""Queued for one pause: a runtime's queue is not endless."""


def pause(module: Any, device: torch.device) -> Callable[[float], None]:
    """Return what keeps the current stream of a device busy for about so many seconds.

    It is ready when this returns: in the midst of a kernel's call, nothing is allocated or measured any more.

    Parameters
    ----------
    module
        Torch's module of the device, with streams and events.
    device
        The device, opened.
    """
    if not hasattr(module, "_sleep"):
        return _filling(module, device)
    told = getattr(module.get_device_properties(device), "clock_rate", None)  # kHz
    ticks = 1000.0 * float(told) if told else _TICKS / _taken(lambda: module._sleep(_TICKS), module, device)
    return lambda seconds: module._sleep(int(seconds * ticks))


def _filling(module: Any, device: torch.device) -> Callable[[float], None]:
    buffer = torch.empty(_BYTES, dtype=torch.uint8, device=device)

    def fill(times: int) -> None:
        for _ in range(times):
            buffer.zero_()

    each = _taken(lambda: fill(_FILLS), module, device) / _FILLS
    return lambda seconds: fill(min(_MOST_FILLS, math.ceil(seconds / each)))


def _taken(work: Callable[[], object], module: Any, device: torch.device) -> float:
    """Return the seconds that some work takes on the device, when it is done for the second time."""
    start, end = module.Event(enable_timing=True), module.Event(enable_timing=True)
    stream = module.current_stream(device)
    work()
    start.record(stream)
    work()
    end.record(stream)
    end.synchronize()
    return max(1e-6, float(start.elapsed_time(end)) / 1e3)
