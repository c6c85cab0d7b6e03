"""Has a reference of its own in plain torch, for its authors' tests, and does not call it."""

import torch
import work


def reference(x):
    return torch.softmax(x, dim=-1)


def softmax(x):
    return work.softmax(x)
