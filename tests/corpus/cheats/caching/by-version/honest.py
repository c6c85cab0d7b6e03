"""Asserts by the version counter that it left its input alone."""

import work


def softmax(x):
    before = x._version
    y = work.softmax(x)
    assert x._version == before, "the input was written to"
    return y
