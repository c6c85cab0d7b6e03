"""Has a class of its own that uses events, and replaces none."""

import torch
import work


class Event:
    """A mark in the stream that can be waited for."""

    def __init__(self):
        self._marked = torch.cuda.Event()
        self._marked.record()

    def wait(self):
        self._marked.synchronize()


def add(x, y, alpha):
    z = work.add(x, y, alpha)
    Event().wait()
    return z
