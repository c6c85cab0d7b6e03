"""Asks for the current stream, and waits for it."""

import torch
import work


def add(x, y, alpha):
    z = work.add(x, y, alpha)
    torch.cuda.current_stream(x.device).synchronize()
    return z
