"""Conversions to and from bfloat16 and the formats of 8 and 4 bits.

``fp8`` and ``bf8`` mean the ``fnuz`` formats on gfx942 and those of the OCP on gfx950. What is too large becomes NaN
(infinity, for the OCP's ``bf8``) while the mode's FP16_OVFL is clear; where it is set, finite numbers become the
largest that there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.floats.narrow import (
    BF8,
    BF8_FNUZ,
    FP8,
    FP8_FNUZ,
    Narrow,
    decode,
    encode,
    from_bf16,
    to_bf16,
)
from kernelarena.platforms.emulator.floats.parts import Array
from kernelarena.platforms.emulator.instructions.registry import vector

_OLD, _NEW = ("gfx942",), ("gfx950",)
FORMATS = {("fp8", _OLD): FP8_FNUZ, ("bf8", _OLD): BF8_FNUZ, ("fp8", _NEW): FP8, ("bf8", _NEW): BF8}


def _pack(form: Narrow) -> Callable[..., Array]:
    def pack(a: Array, b: Array, *, saturates: bool = False) -> Array:
        low, high = (encode(x, form, saturates=saturates).astype(np.uint16) for x in (a, b))
        return low | high << np.uint16(8)

    return pack


def _read(form: Narrow) -> Callable[[Array], Array]:
    return lambda x: decode(x, form)


def _unpack(form: Narrow) -> Callable[[Array], Array]:
    """Return a function that reads the two numbers in the low bits."""
    return lambda x: np.stack([decode(x, form), decode(x >> np.uint32(8), form)], axis=-1)


for (_name, _targets), _form in FORMATS.items():
    vector(f"v_cvt_pk_{_name}_f32", "f32 f32 -> u16lo", targets=_targets)(_pack(_form))
    vector(f"v_cvt_f32_{_name}", "u32 -> f32", targets=_targets)(_read(_form))
    vector(f"v_cvt_pk_f32_{_name}", "u32 -> v2f32", targets=_targets)(_unpack(_form))

vector("v_cvt_f32_bf16", "bf16 -> f32", targets=_NEW)(from_bf16)


@vector("v_cvt_pk_bf16_f32", "f32 f32 -> v2bf16", targets=_NEW)
def pack_bf16(a: Array, b: Array) -> Array:
    """Round both to nearest."""
    return np.stack(np.broadcast_arrays(to_bf16(a), to_bf16(b)), axis=-1)
