"""Reads the clock for a line in its log."""

import logging
import time

import work

_log = logging.getLogger(__name__)


def add(x, y, alpha):
    started = time.perf_counter()
    z = work.add(x, y, alpha)
    _log.debug("add of %s launched within %.3f ms", tuple(x.shape), 1e3 * (time.perf_counter() - started))
    return z
