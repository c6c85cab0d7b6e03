"""Reciprocals, roots, exponentials, logarithms and sines of the transcendental unit.

The chips promise an error (mostly one unit in the last place, ISA guide, "VOP1 Instructions"; for float64 about half
the digits, which programs refine) and not the bits. What is here is computed in float64 and rounded, so that it errs by
half a unit: a program that relies on more than is promised is not found out by that.

The unit knows no float32 denormals, whatever the mode says: they are zero where they come in and where they would go
out (LLVM, ``AMDGPULegalizerInfo.cpp``: ``legalizeFExp2``, ``legalizeFlog2``, ``legalizeFastUnsafeFDIV``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array, flushed

Function = Callable[[Array], Array]


def _exp2(x: Array) -> Array:
    return np.asarray(np.exp2(x))


def _reciprocal(x: Array) -> Array:
    return np.asarray(1.0 / x)


def _reciprocal_root(x: Array) -> Array:
    return np.asarray(1.0 / np.sqrt(x))


def _of_turns(function: Function, *, beyond: float) -> Function:
    """Return a function of turns; of more than 256 of them the unit makes ``beyond``."""

    def of_turns(x: Array) -> Array:
        inside = np.abs(x) <= 256.0
        within = function(2 * np.pi * np.where(inside, np.fmod(x, 1.0), 0.0))
        return np.where(inside, within, np.where(np.isfinite(x), beyond, np.nan))

    return of_turns


FUNCTIONS: dict[str, Function] = {
    "exp": _exp2,
    "log": np.log2,
    "rcp": _reciprocal,
    "rsq": _reciprocal_root,
    "sqrt": np.sqrt,
    "sin": _of_turns(np.sin, beyond=0.0),
    "cos": _of_turns(np.cos, beyond=1.0),
}
"""By the middle of their mnemonics, over float64."""


def rounded(function: Function, dtype: type[np.floating], *, flush: bool = False) -> Function:
    """Return ``function`` over a narrower type, without denormals if ``flush``."""

    def narrow(x: Array) -> Array:
        result = function((flushed(x) if flush else x).astype(np.float64)).astype(dtype)
        return flushed(result) if flush else result

    return narrow
