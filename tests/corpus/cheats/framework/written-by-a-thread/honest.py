"""Launches in a thread that it waits for, into an output that it allocated itself."""

import threading

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    thread = threading.Thread(target=work.softmax, args=(x, y))
    thread.start()
    thread.join()
    return y
