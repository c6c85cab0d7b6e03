"""Chooses a kernel by the alignment of the pointer, which is what addresses are for."""

import torch
import work


def softmax(x):
    x = x if x.stride(1) == 1 else x.contiguous()
    aligned = x.data_ptr() % 16 == 0
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = work.block_of(x.shape[1])
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block, num_warps=4 if aligned else 8)
    return y
