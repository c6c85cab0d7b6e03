"""Sums and products of floating-point numbers of all three widths, fused or not, single or packed."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.floats.fused import fma
from kernelarena.platforms.emulator.floats.parts import Array, flushed
from kernelarena.platforms.emulator.instructions.registry import vector

for _kind in ("f16", "f32"):
    vector(f"v_add_{_kind}", f"{_kind} {_kind} -> {_kind}")(np.add)
    vector(f"v_sub_{_kind}", f"{_kind} {_kind} -> {_kind}")(np.subtract)
    vector(f"v_subrev_{_kind}", f"{_kind} {_kind} -> {_kind}")(lambda a, b: b - a)
    vector(f"v_mul_{_kind}", f"{_kind} {_kind} -> {_kind}")(np.multiply)
    vector(f"v_pk_add_{_kind}", f"v2{_kind} v2{_kind} -> v2{_kind}")(np.add)
    vector(f"v_pk_mul_{_kind}", f"v2{_kind} v2{_kind} -> v2{_kind}")(np.multiply)
    vector(f"v_pk_fma_{_kind}", f"v2{_kind} v2{_kind} v2{_kind} -> v2{_kind}")(fma)
vector("v_add_f64", "f64 f64 -> f64")(np.add)
vector("v_mul_f64", "f64 f64 -> f64")(np.multiply)

for _kind in ("f16", "f32", "f64"):
    vector(f"v_fma_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(fma)
for _kind in ("f32", "f64"):
    vector(f"v_fmac_{_kind}", f"{_kind} {_kind} dst -> {_kind}")(fma)
vector("v_fma_legacy_f16", "f16 f16 f16 -> f16")(fma)
vector("v_pk_fmac_f16", "v2f16 v2f16 dst -> v2f16")(fma)
for _name in ("v_fmamk_f32", "v_fmaak_f32"):  # the constant stands in the text where it is multiplied or added
    vector(_name, "f32 f32 f32 -> f32")(fma)


@vector("v_mul_legacy_f32", "f32 f32 -> f32")
def legacy_product(a: Array, b: Array) -> Array:
    """Multiply; zero times anything is positive zero."""
    return np.where((a == 0) | (b == 0), np.float32(0), a * b)


def _mad(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


for _name in ("v_mad_f16", "v_mad_legacy_f16", "v_madmk_f16", "v_madak_f16"):
    vector(_name, "f16 f16 f16 -> f16")(_mad)
vector("v_mac_f16", "f16 f16 dst -> f16")(_mad)


def _mad32(a: Array, b: Array, c: Array) -> Array:
    """Multiply and add, each rounded; the unit knows no denormals (LLVM, ``FeatureMadMacF32``), whatever the mode."""
    return flushed(flushed(flushed(a) * flushed(b)) + flushed(c))


for _name in ("v_mad_f32", "v_madmk_f32", "v_madak_f32"):
    vector(_name, "f32 f32 f32 -> f32", targets=("gfx90a",))(_mad32)
vector("v_mac_f32", "f32 f32 dst -> f32", targets=("gfx90a",))(_mad32)
