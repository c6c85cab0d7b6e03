"""Returns two outputs that are views of one buffer, next to each other."""

import layers
import torch


def rms_norm_residual(x, residual, weight, eps):
    y, _ = layers.rms_norm_residual(x, residual, weight, eps)
    both = torch.empty((2, *x.shape), dtype=x.dtype, device=x.device)
    both[0].copy_(y)
    layers.rms_norm_residual(x, residual, weight, eps, hidden=both[1])
    return both[0], both[1]
