"""Launches for a few rows at a time, many times over, each row once."""

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    for row in range(0, x.shape[0], 8):
        work.softmax(x[row : row + 8], out=y[row : row + 8])
    return y
