"""Allocates and frees scratch in a loop before its launch, as code that tries sizes does."""

import torch
import work


def softmax(x):
    for factor in (4, 2, 1):
        scratch = torch.empty(factor * x.numel(), dtype=x.dtype, device=x.device)
        del scratch
    return work.softmax(x)
