"""Looks how an interrupt is handled, and leaves it so."""

import signal

import work

assert signal.getsignal(signal.SIGINT) is not None


def add(x, y, alpha):
    return work.add(x, y, alpha)
