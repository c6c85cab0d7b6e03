"""Watches its own allocations through a mode of torch's, as profilers do, and takes it off again."""

import torch
import work
from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    allocations = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.allocations += func is torch.empty
        return func(*args, **(kwargs or {}))


def softmax(x):
    with Counting() as counting:
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    assert counting.allocations == 1
    return work.softmax(x, out=y)
