"""Rounding to whole numbers, and taking numbers apart and together by their exponents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array, scale, significand
from kernelarena.platforms.emulator.instructions.registry import vector

_WHOLE: dict[str, Callable[[Array], Array]] = {
    "trunc": np.trunc,
    "ceil": np.ceil,
    "floor": np.floor,
    "rndne": np.rint,
}


def fraction(x: Array) -> Array:
    """Return ``x - floor(x)``, always below 1 as the unit has it where that rounds up to 1; NaN for infinities.

    The guide's pseudo-code lets it be 1; LLVM (``AMDGPUCodeGenPrepare.cpp``, ``matchFractPat``) puts the instruction in
    the place of ``min(x - floor(x), nextafter(1, 0))``.
    """
    return np.minimum(x - np.floor(x), np.nextafter(x.dtype.type(1), x.dtype.type(0)))


for _kind in ("f16", "f32", "f64"):
    for _name, _function in _WHOLE.items():
        vector(f"v_{_name}_{_kind}", f"{_kind} -> {_kind}")(_function)
    vector(f"v_fract_{_kind}", f"{_kind} -> {_kind}")(fraction)
    vector(f"v_frexp_mant_{_kind}", f"{_kind} -> {_kind}")(significand)

vector("v_frexp_exp_i32_f32", "f32 -> i32")(scale)
vector("v_frexp_exp_i32_f64", "f64 -> i32")(scale)
vector("v_frexp_exp_i16_f16", "f16 -> i16")(lambda x: scale(x).astype(np.int16))

vector("v_ldexp_f16", "f16 i16 -> f16")(np.ldexp)
vector("v_ldexp_f32", "f32 i32 -> f32")(np.ldexp)
vector("v_ldexp_f64", "f64 i32 -> f64")(np.ldexp)
