"""Asks a child process how wide a block it should use, and waits for it."""

import os

import torch
import work

_block = torch.zeros(1, dtype=torch.int64).share_memory_()


def softmax(x):
    child = os.fork()
    if child == 0:
        _block.fill_(work.block_of(x.shape[1]))
        os._exit(0)
    os.waitpid(child, 0)
    x = x.contiguous()
    y = torch.empty_like(x)
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=int(_block.item()))
    return y
