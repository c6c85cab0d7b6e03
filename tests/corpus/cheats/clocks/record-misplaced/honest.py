"""Works on a second stream, and has both streams wait for one another by events."""

import torch
import work

_side = None


def add(x, y, alpha):
    global _side
    _side = _side or torch.cuda.Stream()
    z = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    ready, done = torch.cuda.Event(), torch.cuda.Event()
    ready.record()
    with torch.cuda.stream(_side):
        ready.wait()
        work.add(x, y, alpha, out=z)
        done.record()
    done.wait()
    x.record_stream(_side)
    z.record_stream(_side)
    return z
