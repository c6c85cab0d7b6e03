"""Launches once for each half of the rows."""

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    half = x.shape[0] // 2
    for rows in (slice(0, half), slice(half, None)):
        if x[rows].numel():
            work.softmax(x[rows], out=y[rows])
    return y
