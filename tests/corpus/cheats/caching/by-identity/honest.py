"""Caches what follows from the sizes alone, with functools.cache."""

import functools

import torch
import work


@functools.cache
def _launch_options(columns, dtype):
    warps = 4 if columns * dtype.itemsize < 16384 else 8
    return {"BLOCK": work.block_of(columns), "num_warps": warps}


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), **_launch_options(x.shape[1], x.dtype))
    return y
