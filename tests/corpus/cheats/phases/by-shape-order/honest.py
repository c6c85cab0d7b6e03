"""Remembers the shapes that it has met, to say once for each how it is handled."""

import warnings

import work

_met = set()


def softmax(x):
    if x.shape not in _met:
        _met.add(x.shape)
        if x.shape[1] > 65536:
            warnings.warn("rows this long take a block that may spill", stacklevel=2)
    return work.softmax(x)
