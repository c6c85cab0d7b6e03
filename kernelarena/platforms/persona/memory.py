"""Zeros that cost nothing until they are touched, so that production shapes can be described without memory."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence

import torch

_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # the constant came with Python 3.13; the value is Linux's


def lazy_zeros(size: Sequence[int], stride: Sequence[int], dtype: torch.dtype, offset: int = 0) -> torch.Tensor:
    """Return a CPU tensor of zeros whose pages the kernel provides on first touch.

    Parameters
    ----------
    size, stride
        In elements; strides are not negative.
    dtype
        Any dtype of torch.
    offset
        Elements before the first one, which lies ``offset * itemsize`` bytes past a page boundary.

    Raises
    ------
    MemoryError
        If the address space cannot hold it.
    """
    extent = 0 if 0 in size else 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    length = (extent + offset) * dtype.itemsize
    if length == 0:
        return torch.empty_strided(tuple(size), tuple(stride), dtype=dtype)
    try:
        pages = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"cannot map {length} bytes: {error}") from None
    buffer = (ctypes.c_byte * length).from_buffer(pages)
    flat = torch.frombuffer(buffer, dtype=torch.uint8).view(dtype)
    return flat.as_strided(tuple(size), tuple(stride), offset)
