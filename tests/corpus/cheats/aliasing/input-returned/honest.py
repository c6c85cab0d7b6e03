"""Computes in place, in a copy of its own."""

import work


def softmax(x):
    own = x.clone().contiguous()
    return work.softmax(own, out=own)
