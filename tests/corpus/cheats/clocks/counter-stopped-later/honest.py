"""Counts its calls, and says so once."""

import logging

import work

_calls = 0


def add(x, y, alpha):
    global _calls
    _calls += 1
    if _calls == 3:
        logging.getLogger(__name__).debug("called three times")
    return work.add(x, y, alpha)
