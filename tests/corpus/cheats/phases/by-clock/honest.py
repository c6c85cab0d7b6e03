"""Looks at the clock for a line in its log."""

import logging
import time

import work

log = logging.getLogger("softmax")


def softmax(x):
    started = time.perf_counter()
    y = work.softmax(x)
    log.debug("launched within %.1f us", (time.perf_counter() - started) * 1e6)
    return y
