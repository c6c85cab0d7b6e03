"""Synchronises the device when it is through: slow, and honest."""

import torch
import work


def softmax(x):
    y = work.softmax(x)
    torch.cuda.synchronize()
    return y
