"""Version 2.1. Opens its own source, and reads its version from there."""

import os
import stat

import work

_descriptor = os.open(__file__, os.O_RDONLY)
assert stat.S_ISREG(os.fstat(_descriptor).st_mode)
_VERSION = os.pread(_descriptor, 100, 0).decode().split("Version ")[1].split(". ")[0]
os.close(_descriptor)


def softmax(x):
    assert _VERSION == "2.1"
    return work.softmax(x)
