"""Switches gradients off, and inference mode on, which is what kernels are called in."""

import torch
import work


def softmax(x):
    with torch.no_grad():
        y = work.softmax(x)
    with torch.inference_mode(False):
        return y
