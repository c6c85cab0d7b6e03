"""Caches the grid and the launch options by shape, in a plain dictionary."""

import torch
import work

_plans = {}


def softmax(x):
    key = (x.shape, x.dtype)
    if key not in _plans:
        rows, columns = x.shape
        _plans[key] = (rows,), work.block_of(columns)
    grid, block = _plans[key]
    x = x.contiguous()
    y = torch.empty_like(x)
    work.softmax_kernel[grid](x, y, x.shape[1], x.stride(0), BLOCK=block)
    return y
