"""Gives memory that it no longer needs back to the device, once, and asks how much it uses."""

import torch
import work

torch.cuda.empty_cache()


def softmax(x):
    assert torch.cuda.memory_allocated(x.device) >= 0
    return work.softmax(x)
