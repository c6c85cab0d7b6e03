"""Records an event after its launch and asks it for nothing: a marker for whoever profiles."""

import torch
import work


def softmax(x):
    y = work.softmax(x)
    torch.cuda.current_stream().record_event(torch.cuda.Event())
    return y
