"""Asks the C library how large a page is, and rounds nothing but its log line to it."""

import ctypes
import logging

import work

_libc = ctypes.CDLL(None)


def softmax(x):
    pages = -(-x.numel() * x.element_size() // _libc.getpagesize())
    logging.getLogger(__name__).debug("the input covers %d pages", pages)
    return work.softmax(x)
