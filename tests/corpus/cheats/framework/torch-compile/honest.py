"""Is written for graphs to be compiled around it: no compiler of the framework's sees into it."""

import torch
import work


@torch.no_grad()
def softmax(x):
    return work.softmax(x)
