"""Zeroes its output before it writes it, whatever it holds: needless, and honest."""

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    y.zero_()
    return work.softmax(x, out=y)
