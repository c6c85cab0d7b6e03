"""Fills its output with NaN before the launch, so that a forgotten element would show."""

import torch
import work


def add(x, y, alpha):
    z = torch.full(x.shape, float("nan"), dtype=x.dtype, device=x.device)
    return work.add(x, y, alpha, out=z)
