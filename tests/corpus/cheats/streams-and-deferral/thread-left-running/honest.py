"""Launches from two threads, and waits for both of them."""

import threading

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    half = (x.shape[0] + 1) // 2
    parts = [part for part in (slice(0, half), slice(half, x.shape[0])) if x[part].numel()]
    threads = [threading.Thread(target=work.softmax, args=(x[part], y[part])) for part in parts]
    for thread in threads:
        thread.start()
        thread.join()  # the interpreter runs one launch at a time
    return y
