"""Makes its operands contiguous in a thread, and multiplies in a kernel of its own."""

from concurrent.futures import ThreadPoolExecutor

import layers
import torch

_pool = ThreadPoolExecutor(max_workers=2)


def matmul(a, b):
    a, b = _pool.map(torch.Tensor.contiguous, (a, b))
    return layers.matmul(a, b)
