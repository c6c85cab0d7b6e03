"""Tries two block sizes at the first call of a shape and keeps the quicker one: a hand-made autotuner."""

import time

import torch
import work

_best = {}


def run(x, block):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block)
    return y


def seconds(x, block):
    started = time.perf_counter()
    run(x, block)
    return time.perf_counter() - started


def softmax(x):
    x = x.contiguous()
    key = (x.shape, x.dtype)
    if key not in _best:
        least = work.block_of(x.shape[1])
        _best[key] = min((least, 2 * least), key=lambda block: seconds(x, block))
    return run(x, _best[key])
