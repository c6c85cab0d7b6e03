"""What FP16_OVFL does: a result that is too large becomes the largest number of its format, and not infinity.

"fp16 overflow that is the result of an +/-INF input value or divide by 0 produces a +/-INF, otherwise clamps computed
overflow to +/-MAX" (LLVM, *User Guide for AMDGPU Backend*, FP16_OVFL of ``compute_pgm_rsrc1``). Conversions to the
formats of 8 bits heed it as well: that is what Triton sets it for (``adjustModeRegister`` of its AMD backend).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.assembly import Statement
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.floats.parts import bounded
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.instructions.registry import Entry, takes
from kernelarena.platforms.emulator.lanes import Array

_DIVIDES_BY = {"v_rcp_f16": 0, "v_rsq_f16": 0, "v_log_f16": 0, "v_div_fixup_f16": 1, "v_div_fixup_legacy_f16": 1}
"""The source that, where it is zero, makes an infinity which is no overflow."""


def saturating(entry: Entry, statement: Statement) -> Callable[..., Any]:
    """Return what an instruction computes while the mode is set.

    Raises
    ------
    Unsupported
        For a combination of which it is not known what it does.
    """
    function = entry.function
    if takes(function, ["saturates"]):
        return partial(function, saturates=True)
    assert entry.signature is not None
    if all(KINDS[kind].dtype != np.float16 for kind in entry.signature.results):
        return function
    if {"mul", "div"} & statement.modifiers.keys() or entry.mnemonic.startswith("v_cvt_scalef32_"):
        raise Unsupported(statement.text)
    divisor = _DIVIDES_BY.get(entry.mnemonic)

    @wraps(function)
    def compute(*sources: Any, **modifiers: Any) -> Array:
        result = function(*sources, **modifiers)
        limited = bounded(result, [source for source in sources if getattr(source, "dtype", np.dtype(int)).kind == "f"])
        return limited if divisor is None else np.where(sources[divisor] == 0, result, limited)

    return compute
