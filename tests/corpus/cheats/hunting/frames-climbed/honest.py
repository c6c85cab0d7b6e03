"""Looks at its own frame for the line that its log names, and has warnings name its caller's."""

import inspect
import logging
import warnings

import work


def softmax(x):
    frame = inspect.currentframe()
    logging.getLogger(__name__).debug("launching at line %d", frame.f_lineno, stacklevel=2)
    if x.shape[1] == 1:
        warnings.warn("a softmax of single elements is all ones", stacklevel=2)
    return work.softmax(x)
