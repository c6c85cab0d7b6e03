import itertools

import torch
import work

_rings = {}


def softmax(x):
    key = (x.shape, x.dtype)
    if key not in _rings:
        buffers = [torch.empty(x.shape, dtype=x.dtype, device=x.device) for _ in range(2)]
        _rings[key] = itertools.cycle(buffers)
    return work.softmax(x, out=next(_rings[key]))
