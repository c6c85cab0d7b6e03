"""Calls methods that move, view and describe, and compute nothing."""

import work


def softmax(x):
    rows = x.view(x.shape) if x.is_contiguous() else x.contiguous()
    y = work.softmax(rows)
    return y.reshape(x.shape).to(x.dtype).detach()
