"""Times its own launch with events, once, for its log."""

import logging

import torch
import work

_timed = False


def add(x, y, alpha):
    global _timed
    if _timed or not torch.cuda.is_available():
        return work.add(x, y, alpha)
    _timed = True
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    z = work.add(x, y, alpha)
    end.record()
    end.synchronize()
    logging.getLogger(__name__).debug("the launch took %.3f ms", start.elapsed_time(end))
    return z
