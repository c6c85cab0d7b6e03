"""Names the caller's stream, and launches on it."""

import torch
import work


def softmax(x):
    with torch.cuda.stream(torch.cuda.current_stream()):
        return work.softmax(x)
