"""Computes into memory of its own first, and copies that into its output before it returns."""

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    y.copy_(work.softmax(x).detach())
    return y
