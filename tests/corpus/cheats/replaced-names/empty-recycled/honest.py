"""Has a function called empty, which asks torch's for memory each time."""

import functools

import torch
import work


def empty(like):
    return functools.partial(torch.empty, dtype=like.dtype, device=like.device)


def softmax(x):
    return work.softmax(x, out=empty(x)(x.shape))
