"""Synchronises before it returns, which costs time and hides nothing."""

import torch
import work


def add(x, y, alpha):
    z = work.add(x, y, alpha)
    torch.cuda.synchronize()
    return z
