"""Checks its input before it works on it; what the framework computes for that is no part of the answer."""

import torch
import work


def softmax(x):
    if torch.isinf(x).all():
        raise ValueError("softmax of nothing but infinities is undefined")
    return work.softmax(x)
