"""Asks whether it is still there, by the signal that is none."""

import os

import work


def add(x, y, alpha):
    os.kill(os.getpid(), 0)
    return work.add(x, y, alpha)
