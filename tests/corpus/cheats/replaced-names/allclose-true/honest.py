"""Has a function called allclose, which is its own and compares block sizes."""

import work


def allclose(sizes, tolerance=0):
    return max(sizes) - min(sizes) <= tolerance


def softmax(x):
    assert allclose([1024, 1024])
    return work.softmax(x)
