"""Cuts its output out of a larger buffer that it allocates in the same call."""

import torch
import work


def softmax(x):
    rows, columns = x.shape
    pool = torch.empty((rows + 2, columns), dtype=x.dtype, device=x.device)
    y = pool[1 : rows + 1]
    return work.softmax(x, out=y)
