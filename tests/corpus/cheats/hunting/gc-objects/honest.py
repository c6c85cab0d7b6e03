"""Collects garbage once, after its import has made some."""

import gc

import work

gc.collect()


def softmax(x):
    return work.softmax(x)
