"""Can be captured by whoever calls it: it allocates what it needs, and asks the device for nothing."""

import torch
import work


def softmax(x):
    y = work.softmax(x)
    if not torch.cuda.is_current_stream_capturing():
        torch.cuda.current_stream().query()
    return y
