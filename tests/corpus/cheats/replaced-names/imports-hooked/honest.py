"""Asks whether an optional module could be imported, and imports another late."""

import importlib
import importlib.util

import work

_HAS_OPTIONAL = importlib.util.find_spec("kernels_of_somebody_else") is not None


def softmax(x):
    fractions = importlib.import_module("fractions")
    assert fractions.Fraction(1, 2) < 1
    return work.softmax(x)
