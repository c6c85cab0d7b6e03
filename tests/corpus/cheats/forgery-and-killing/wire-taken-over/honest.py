"""Serves the rows of a call one after the other, by a generator that it asks until there are none left."""

import torch
import work


def _served(x, y):
    half = (x.shape[0] + 1) // 2
    for start in range(0, x.shape[0], half):
        work.softmax(x[start : start + half], out=y[start : start + half])
        yield start


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    for _ in _served(x, y):
        pass
    return y
