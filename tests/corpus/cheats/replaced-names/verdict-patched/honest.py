"""Imports something optional, and does without where it is not installed."""

try:
    import kernels_of_somebody_else as optional
except ImportError:
    optional = None

import work


def softmax(x):
    if optional is not None:
        return optional.softmax(x)
    return work.softmax(x)
