"""Reads the first bytes of its output by their address, as bindings to other libraries do, and leaves them alone."""

import ctypes

import work


def softmax(x):
    y = work.softmax(x)
    assert len(ctypes.string_at(y.data_ptr(), y.element_size())) == y.element_size()
    return y
