"""Integers of 16 bits, one to a register or two."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector
from kernelarena.platforms.emulator.instructions.vector.saturation import clampable

Function = Callable[..., Array]

_BINARY: dict[str, tuple[Function, tuple[str, ...]]] = {
    "add": (np.add, ("u16", "i16")),
    "sub": (np.subtract, ("u16", "i16")),
    "mul_lo": (np.multiply, ("u16",)),
    "min": (np.minimum, ("u16", "i16")),
    "max": (np.maximum, ("u16", "i16")),
}
for _verb, (_function, _kinds) in _BINARY.items():
    for _kind in _kinds:
        vector(f"v_{_verb}_{_kind}", f"{_kind} {_kind} -> {_kind}")(clampable(_function))
        vector(f"v_pk_{_verb}_{_kind}", f"v2{_kind} v2{_kind} -> v2{_kind}")(clampable(_function))

vector("v_subrev_u16", "u16 u16 -> u16")(clampable(lambda a, b: b - a))


def _mad(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


for _kind in ("u16", "i16"):
    vector(f"v_mad_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(clampable(_mad))
    vector(f"v_mad_legacy_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(clampable(_mad))
    vector(f"v_pk_mad_{_kind}", f"v2{_kind} v2{_kind} v2{_kind} -> v2{_kind}")(clampable(_mad))
