"""What a device can do for the judge, told by having it done: runtimes differ in what they raise, and where."""

from __future__ import annotations

import torch


def computes(device: torch.device, dtype: torch.dtype = torch.float32) -> bool:
    """Return whether the framework computes in a dtype on a device.

    One that was lost refuses. One that lacks the dtype refuses as well, or takes a narrower one and does not say so.

    Parameters
    ----------
    device
        One that this process has opened.
    dtype
        A floating-point one.
    """
    smallest = torch.finfo(dtype).eps
    try:
        ones = torch.ones(2, 2, dtype=dtype, device=device)
        product, more = (ones @ ones).cpu(), (ones + smallest).cpu()
    except (RuntimeError, TypeError):  # frameworks raise the latter where a device has no such type at all
        return False
    return more.dtype is dtype and bool((product == 2).all() and (more.double() == 1 + smallest).all())
