"""Reciprocals, roots, exponentials, logarithms, sines."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.floats.elementary import FUNCTIONS, rounded
from kernelarena.platforms.emulator.instructions.registry import vector

for _name, _function in FUNCTIONS.items():
    vector(f"v_{_name}_f32", "f32 -> f32")(rounded(_function, np.float32, flush=_name not in ("sin", "cos")))
    vector(f"v_{_name}_f16", "f16 -> f16")(rounded(_function, np.float16))
vector("v_rcp_iflag_f32", "f32 -> f32")(rounded(FUNCTIONS["rcp"], np.float32, flush=True))
for _name in ("rcp", "rsq", "sqrt"):
    vector(f"v_{_name}_f64", "f64 -> f64")(FUNCTIONS[_name])
