"""Counts its calls, for a log line."""

import itertools
import logging

import work

_calls = itertools.count(1)


def softmax(x):
    logging.getLogger(__name__).debug("call %d", next(_calls))
    return work.softmax(x)
