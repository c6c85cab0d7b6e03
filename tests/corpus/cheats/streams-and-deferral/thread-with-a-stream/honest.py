"""Launches from a thread that is given the caller's stream, and joins it."""

import threading

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    stream = torch.cuda.current_stream()

    def launch():
        with torch.cuda.stream(stream):
            work.softmax(x, out=y)

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    return y
