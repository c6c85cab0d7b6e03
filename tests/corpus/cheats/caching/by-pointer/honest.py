"""Keeps a scratch row by shape: what is kept is never an answer, and is written anew before it is read."""

import torch
import work

_scratch = {}


def softmax(x):
    key = (x.shape, x.dtype, x.device)
    if key not in _scratch:
        _scratch[key] = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    work.softmax(x, out=_scratch[key])
    return work.copied(_scratch[key])
