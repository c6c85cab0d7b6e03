"""What ``clamp`` means to integers: a result that does not fit becomes the end of the range that it passed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array

Function = Callable[..., Array]


def clampable(function: Function) -> Function:
    """Let a function of integers of one type be clamped: it is computed in int64, which must hold it.

    It holds sums and differences of 32-bit numbers, and products of 16-bit ones.
    """

    def clamped(*sources: Array, clamp: bool = False) -> Array:
        if not clamp:
            return function(*sources)
        dtype = sources[-1].dtype
        limits = np.iinfo(dtype)
        exact = function(*(source.astype(np.int64) for source in sources))
        return np.clip(exact, limits.min, limits.max).astype(dtype)

    return clamped
