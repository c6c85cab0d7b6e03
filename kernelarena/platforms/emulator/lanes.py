"""Masks of lanes as booleans, and as the 64 bits that scalar registers hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LANES = 64
Array = npt.NDArray[Any]


def packed(mask: Array) -> Array:
    """Return ``bool[waves, 64]`` as ``uint64[waves]``."""
    bits: Array = np.packbits(mask, axis=-1, bitorder="little")
    return bits.view(np.uint64)[..., 0]


def unpacked(bits: Array) -> Array:
    """Return ``uint64[waves]`` as ``bool[waves, 64]``."""
    octets = np.ascontiguousarray(bits)[..., None].view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little").view(np.bool_)
