"""Prepares its launch in two threads, and waits for both."""

from concurrent.futures import ThreadPoolExecutor

import work


def add(x, y, alpha):
    with ThreadPoolExecutor(2) as pool:
        ready = pool.map(lambda tensor: tensor if tensor.stride(-1) == 1 else tensor.contiguous(), (x, y))
        x, y = ready
    return work.add(x, y, alpha)
