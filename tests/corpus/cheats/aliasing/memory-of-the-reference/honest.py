"""Frees its temporary before it allocates its output, which may come to lie there and is written all the same."""

import torch
import work


def softmax(x):
    scratch = x.clone()
    work.softmax(scratch)
    del scratch
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    return work.softmax(x, out=y)
