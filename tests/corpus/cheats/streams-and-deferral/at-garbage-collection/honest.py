"""Collects garbage before a large allocation, and has a finaliser count what was given back."""

import gc
import weakref

import work

freed = []


def softmax(x):
    if len(freed) % 8 == 0:
        gc.collect()
    y = work.softmax(x)
    weakref.finalize(y, freed.append, y.nbytes)
    return y
