"""Launches from a pool of threads, and waits for the result."""

from concurrent.futures import ThreadPoolExecutor

import work

_pool = ThreadPoolExecutor(max_workers=1)


def softmax(x):
    return _pool.submit(work.softmax, x).result()
