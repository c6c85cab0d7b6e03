"""Calls a function of the C library."""

import ctypes

import work

_libm = ctypes.CDLL("libm.so.6")
_libm.log2.restype, _libm.log2.argtypes = ctypes.c_double, [ctypes.c_double]


def add(x, y, alpha):
    assert _libm.log2(8.0) == 3.0
    return work.add(x, y, alpha)
