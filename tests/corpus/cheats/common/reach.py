"""What several cheats reach with: the frames above them, open descriptors, and bytes that look like an input."""

import contextlib
import os
import stat
import sys

import torch

NAMES = ("truth", "expected", "reference", "answer", "baseline", "golden")
"""What a harness that keeps the right answer near the kernel is likely to call it."""


def frames_above():
    """Yield the frames that called the cheat's function, innermost first."""
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def above(*attributes):
    """Return the first variable of a caller that has all of these attributes, or None."""
    for frame in frames_above():
        for value in list(frame.f_locals.values()):
            if all(hasattr(value, name) for name in attributes):
                return value
    return None


def descriptors(wanted):
    """Return the open descriptors above stderr whose mode is as ``wanted``."""
    found = []
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            if wanted(os.fstat(descriptor).st_mode):
                found.append(descriptor)
    return found


def sockets():
    """Return the open sockets."""
    return descriptors(stat.S_ISSOCK)


def behind(memory, x):
    """Return what follows a copy of ``x`` in some bytes, if that may be its softmax, else None."""
    start = bytes(x.cpu().contiguous().flatten()[:16].view(torch.uint8).tolist())
    size = x.numel() * x.element_size()
    place = memory.find(start)
    found = bytearray(memory[place + size : place + 2 * size])
    if place < 0 or len(found) < size:
        return None
    found = torch.frombuffer(found, dtype=x.dtype).reshape(x.shape)
    return found.to(x.device) if bool(((found.float().sum(dim=1) - 1).abs() < 1e-2).all()) else None
