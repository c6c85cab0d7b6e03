"""Splits the rows over two streams, and joins them by an event."""

import torch
import work

_streams = {}


def softmax(x):
    side = _streams.setdefault(x.device, torch.cuda.Stream(x.device))
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    half = x.shape[0] // 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        if half:
            work.softmax(x[:half], out=y[:half])
        done = side.record_event()
    work.softmax(x[half:], out=y[half:])
    torch.cuda.current_stream().wait_event(done)
    return y
