"""Computes its launch options with NumPy."""

import numpy as np
import torch
import work


def softmax(x):
    block = int(2 ** np.ceil(np.log2(max(x.shape[1], 2))))
    x = x.contiguous()
    y = torch.empty_like(x)
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block)
    return y
