"""Formats what a datagram would have carried, for its log."""

import logging

import work


def softmax(x):
    logging.getLogger(__name__).debug("%r", (tuple(x.shape), x.dtype))
    return work.softmax(x)
