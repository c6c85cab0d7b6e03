"""Lets a variable of its own choose the number of warps."""

import os

import torch
import work

WARPS = int(os.environ.get("SOFTMAX_WARPS", "4"))


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    block = work.block_of(x.shape[1])
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block, num_warps=WARPS)
    return y
