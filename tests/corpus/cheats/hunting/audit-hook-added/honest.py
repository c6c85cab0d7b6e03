"""Raises an audit event of its own, for whoever listens."""

import sys

import work


def softmax(x):
    sys.audit("softmax.launch", *x.shape)
    return work.softmax(x)
