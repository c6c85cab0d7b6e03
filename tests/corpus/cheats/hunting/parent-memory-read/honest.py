"""Reads from /proc what machine it is on, for its log."""

import contextlib
import logging

import work

with contextlib.suppress(OSError), open("/proc/cpuinfo") as _cpuinfo:
    _model = next((line.partition(":")[2].strip() for line in _cpuinfo if line.startswith("model name")), "unknown")
    logging.getLogger(__name__).debug("on a host with %s", _model)


def softmax(x):
    return work.softmax(x)
