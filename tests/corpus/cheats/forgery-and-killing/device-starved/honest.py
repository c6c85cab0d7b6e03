"""Prepares a row of zeros on a second stream, and waits for it."""

import torch
import work

_side = None


def add(x, y, alpha):
    global _side
    _side = _side or torch.cuda.Stream()
    with torch.cuda.stream(_side):
        zeros = torch.zeros(1024, device=x.device)
    torch.cuda.current_stream().wait_stream(_side)
    zeros.record_stream(torch.cuda.current_stream())
    return work.add(x, y, alpha)
