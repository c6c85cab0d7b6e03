"""Seeds torch's generator and draws from it, for a warm-up whose answer is thrown away."""

import torch
import work

torch.manual_seed(0)
_warm = set()


def softmax(x):
    if x.dtype not in _warm:
        _warm.add(x.dtype)
        work.softmax(torch.randn(4, 16, device=x.device).to(x.dtype))
    return work.softmax(x)
