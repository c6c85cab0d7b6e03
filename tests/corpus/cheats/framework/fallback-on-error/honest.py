"""Does without a package that is not there, and says so; the work is its kernel's either way."""

import logging

import work

try:
    import a_package_of_faster_kernels
except ImportError:
    a_package_of_faster_kernels = None
    logging.getLogger(__name__).info("a_package_of_faster_kernels is not installed")


def softmax(x):
    try:
        return work.softmax(x)
    except MemoryError:
        raise RuntimeError("softmax needs as much memory again as its input takes") from None
