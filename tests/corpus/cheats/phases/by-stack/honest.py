"""Says who called it where it is asked for too much, as libraries do."""

import inspect
import warnings

import work


def softmax(x):
    if x.requires_grad:
        caller = inspect.stack()[1]
        warnings.warn(f"{caller.function} wants a gradient, which this kernel has none of", stacklevel=2)
    return work.softmax(x)
