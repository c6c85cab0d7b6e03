"""Does more at the first call of a shape than at later ones: it makes its plan. Each call does all of the work."""

import torch
import work

_plans = {}


def softmax(x):
    key = (x.shape, x.dtype)
    if key not in _plans:
        work.softmax(x)  # warms the compiler's cache up
        _plans[key] = work.block_of(x.shape[1])
    x = x.contiguous()
    y = torch.empty_like(x)
    work.softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=_plans[key])
    return y
