"""Asks sys.modules whether something optional has been imported, and puts nothing there."""

import sys

import work

_PROFILED = sys.modules.get("triton.profiler") is not None


def add(x, y, alpha):
    assert "time" in sys.modules
    return work.add(x, y, alpha)
