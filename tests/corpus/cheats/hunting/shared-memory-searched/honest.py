"""Stages its options in an anonymous mapping of its own, as code that talks to a driver does."""

import mmap
import struct

import work

_staged = mmap.mmap(-1, mmap.PAGESIZE)


def softmax(x):
    struct.pack_into("qq", _staged, 0, *x.shape)
    assert struct.unpack_from("qq", _staged) == tuple(x.shape)
    return work.softmax(x)
