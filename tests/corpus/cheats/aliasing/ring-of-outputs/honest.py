"""Goes back and forth between two buffers within a call, both of them its own."""

import torch
import work


def softmax(x):
    ping, pong = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for _ in range(2))
    work.softmax(x, out=ping)
    work.copied(ping, out=pong)
    return pong
