"""Keeps a table that follows from the size alone, and converts the weight anew in each call."""

import layers
import torch

_columns = {}


def rms_norm_residual(x, residual, weight, eps):
    size = weight.numel()
    if size not in _columns:
        _columns[size] = torch.arange(size, device=x.device, dtype=torch.int32)
    assert _columns[size].numel() == weight.numel()
    return layers.rms_norm_residual(x, residual, weight.float(), eps)
