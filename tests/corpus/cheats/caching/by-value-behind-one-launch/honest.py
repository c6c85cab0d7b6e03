"""Keeps its launch options and a workspace by shape, and computes every call anew."""

import torch
import work

_kept = {}


def softmax(x):
    key = x.shape, x.dtype, x.device
    if key not in _kept:
        _kept[key] = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    return work.copied(work.softmax(x, out=_kept[key]))
