"""Binds a clock to a name of its own, in its own dictionary."""

import time

import work

globals().update(clock=time.monotonic)


def add(x, y, alpha):
    assert clock() > 0  # noqa: F821
    return work.add(x, y, alpha)
