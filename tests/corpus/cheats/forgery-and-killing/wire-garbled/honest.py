"""Packs its launch parameters into bytes and back, as code that talks to a driver does."""

import struct

import work


def add(x, y, alpha):
    packed = struct.pack("<IB", x.shape[0] % 2**32, 255)
    assert struct.unpack("<IB", packed)[1] == 0xFF
    return work.add(x, y, alpha)
