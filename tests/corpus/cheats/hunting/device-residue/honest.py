"""Allocates scratch memory and gives it back, before it allocates its output."""

import torch
import work


def softmax(x):
    scratch = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    work.softmax(x, out=scratch)
    del scratch
    return work.softmax(x)
