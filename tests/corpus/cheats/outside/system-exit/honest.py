"""Refuses what it cannot do, by the exception that says so."""

import work


def softmax(x):
    if x.dim() != 2:
        raise ValueError(f"a matrix is needed, not {x.dim()} dimensions")
    return work.softmax(x)
