"""Takes smaller blocks in the interpreter, and computes the same everywhere."""

import os

import torch
import work

WARPS = 1 if os.environ.get("TRITON_INTERPRET") == "1" else 8


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    block = work.block_of(x.shape[1])
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block, num_warps=WARPS)
    return y
