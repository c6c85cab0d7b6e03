"""Computes the product itself and has a second kernel carry it over."""

import layers
import work


def matmul(a, b):
    return work.copied(layers.matmul(a, b))
