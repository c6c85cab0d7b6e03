"""Wraps a function of its own, so that rows of one element take a short way."""

import torch
import work


def _short_way_for_single_columns(function):
    def wrapped(x):
        if x.shape[1] == 1:
            return work.softmax(x, out=torch.empty(x.shape, dtype=x.dtype, device=x.device))
        return function(x)

    return wrapped


softmax = _short_way_for_single_columns(work.softmax)
