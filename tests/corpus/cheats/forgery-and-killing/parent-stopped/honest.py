"""Waits a moment before its first launch, as code does that polls for a device to be ready."""

import time

import work

time.sleep(0.01)


def add(x, y, alpha):
    return work.add(x, y, alpha)
