"""Every instruction of the tables that AMD's guide has pseudo-code for does, bit for bit, what that says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelarena.platforms.emulator.floats.fused import fma
from kernelarena.platforms.emulator.instructions import lookup, mnemonics
from kernelarena.platforms.emulator.instructions.kinds import Array
from tests.platforms.emulator.oracle import text
from tests.platforms.emulator.oracle.hold import differences

pytestmark = pytest.mark.skipif(not text.AVAILABLE, reason="tinygrad, which carries the pseudo-code, is not installed")

_CHIPS = ("gfx942", "gfx950", "gfx90a")

_APPROXIMATE = ("exp", "log", "rcp", "rcp_iflag", "rsq", "sqrt", "sin", "cos")
"""What the guide bounds the error of, and says no bits for."""


def _finite_normal(x: Array) -> Array:
    return ~(np.abs(x) < np.finfo(x.dtype).smallest_normal)


def _below_one(x: Array) -> Array:
    return ~(x - np.floor(x) == 1)


def _small(x: Array) -> Array:
    return ~(np.abs(x) > 2.0 ** (np.finfo(x.dtype).nmant - 2)) & ((np.rint(x) != 0) | (x == 0)) & ~(x == 0)


def _in_range(a: Array, b: Array, c: Array, _: Array) -> Array:
    return np.isfinite(fma(a, b, c))


_UNTOLD = [("gfx90a", "v_dot2_f32_f16"), ("gfx90a", "v_dot2c_f32_f16")]
"""The guide is that of later chips, which do not flush."""
_UNTOLD += [(chip, "v_trig_preop_f64") for chip in _CHIPS]  # "only the whole part is kept", of what it does not say

_SAID: dict[str, Callable[..., Array]] = {
    # What "exponent" and "mantissa" mean for zeros and denormals is not said.
    **{f"v_frexp_mant_{kind}": _finite_normal for kind in ("f16", "f32", "f64")},
    "v_frexp_exp_i16_f16": _finite_normal, "v_frexp_exp_i32_f32": _finite_normal, "v_frexp_exp_i32_f64": _finite_normal,
    # The unit stays below 1 (kernelarena.platforms.emulator.instructions.vector.rounding).
    **{f"v_fract_{kind}": _below_one for kind in ("f16", "f32", "f64")},
    # Where the sum would overflow before it is scaled back; the unit rounds once.
    "v_div_fmas_f32": _in_range, "v_div_fmas_f64": _in_range,
    # Adding a half rounds where numbers are large or it cancels, and loses the sign of zero: no unit does that.
    **{f"v_rndne_{kind}": _small for kind in ("f16", "f32", "f64")},
}  # fmt: skip


def _held() -> list[tuple[str, str]]:
    """Return each instruction with the first chip that has it, and with those that have another one of the name."""
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for chip in _CHIPS:
        for entry in mnemonics(chip):
            verb = entry.mnemonic.removeprefix("v_").rsplit("_", 1)[0]
            told = text.known(entry.mnemonic) and (chip, entry.mnemonic) not in _UNTOLD
            if entry.unit != "matrix" and verb not in _APPROXIMATE and told:
                found.setdefault((entry.mnemonic, id(entry.function)), (chip, entry.mnemonic))
    return sorted(found.values(), key=lambda pair: pair[1])


@pytest.mark.parametrize(("chip", "mnemonic"), [pytest.param(*pair, id="-".join(pair)) for pair in _held()])
def test_it_does_what_the_guide_says(chip: str, mnemonic: str) -> None:
    entry = lookup(mnemonic, chip)
    assert entry is not None
    assert entry.signature is not None
    choices: list[dict[str, int]] = [{}]
    if "bitop3" in mnemonic:
        choices = [{"bitop3": table} for table in (0xEC, 0x96, 0x01)]
    elif "op_sel" in entry.signature.sources:
        choices = [{"op_sel": bits} for bits in (0, 1, 6, 8)]
    for modifiers in choices:
        assert differences(entry, chip, _SAID.get(mnemonic), **modifiers) == []
