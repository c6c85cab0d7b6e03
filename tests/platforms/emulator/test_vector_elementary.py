"""Functions that are approximate by nature, and the division that programs build of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from kernelarena.platforms.emulator.floats.fused import fma
from kernelarena.platforms.emulator.floats.parts import flushed
from kernelarena.platforms.emulator.instructions import lookup
from kernelarena.platforms.emulator.instructions.kinds import KINDS, Array
from tests.platforms.emulator.oracle.operands import operands

_CHIP = "gfx942"
_DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def _run(mnemonic: str, *given: Array) -> Array | tuple[Array, ...]:
    entry = lookup(mnemonic, _CHIP)
    assert entry is not None
    with np.errstate(all="ignore"):
        return entry.function(*given)


def _turns(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(2 * math.pi * math.fmod(x, 1.0))


_TRUTH: dict[str, Callable[[float], float]] = {
    "exp": lambda x: 2.0**x,
    "log": math.log2,
    "rcp": lambda x: 1 / x,
    "rcp_iflag": lambda x: 1 / x,
    "rsq": lambda x: 1 / math.sqrt(x),
    "sqrt": math.sqrt,
    "sin": _turns(math.sin),
    "cos": _turns(math.cos),
}


def _cases() -> list[tuple[str, str]]:
    return [(name, kind) for name in _TRUTH for kind in _DTYPES if lookup(f"v_{name}_{kind}", _CHIP)]


@pytest.mark.parametrize(("name", "kind"), _cases())
def test_the_error_is_at_most_one_unit(name: str, kind: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.uniform(0.001, 1.0, 500) * 2.0 ** rng.integers(-8, 4, 500)).astype(_DTYPES[kind])
    expected = np.array([_TRUTH[name](float(value)) for value in x])
    made = _run(f"v_{name}_{kind}", x)
    assert isinstance(made, np.ndarray)
    assert made.dtype == KINDS[kind].dtype
    floor = 2.0**-22 if name in ("sin", "cos") else 0.0  # near their zeros the argument's own rounding decides
    allowed = np.maximum(np.spacing(np.abs(expected).astype(made.dtype)).astype(np.float64), floor)
    assert (np.abs(made.astype(np.float64) - expected) <= allowed).all()


def test_special_arguments() -> None:
    infinity, nothing = np.inf, np.nan
    for name, x, expected in (
        ("exp", [infinity, -infinity, 200.0, -200.0, 0.0], [infinity, 0.0, infinity, 0.0, 1.0]),
        ("log", [0.0, -0.0, 1.0, -1.0, infinity], [-infinity, -infinity, 0.0, nothing, infinity]),
        ("rcp", [0.0, -0.0, infinity, -infinity, nothing], [infinity, -infinity, 0.0, -0.0, nothing]),
        ("rsq", [0.0, 4.0, infinity, -1.0, nothing], [infinity, 0.5, 0.0, nothing, nothing]),
        ("sqrt", [0.0, 4.0, infinity, -1.0, nothing], [0.0, 2.0, infinity, nothing, nothing]),
        ("sin", [0.0, 0.25, 300.0, infinity, nothing], [0.0, 1.0, 0.0, nothing, nothing]),
        ("cos", [0.0, 0.5, 300.0, infinity, nothing], [1.0, -1.0, 1.0, nothing, nothing]),
    ):
        np.testing.assert_array_equal(_run(f"v_{name}_f32", np.array(x, np.float32)), np.array(expected, np.float32))


def test_the_unit_knows_no_denormals_of_float32() -> None:
    tiny = np.array([1e-40, -1e-40], np.float32)
    np.testing.assert_array_equal(_run("v_rcp_f32", tiny), [np.inf, -np.inf])
    np.testing.assert_array_equal(_run("v_log_f32", tiny), [-np.inf, -np.inf])
    np.testing.assert_array_equal(_run("v_sqrt_f32", tiny), [0, 0])
    np.testing.assert_array_equal(_run("v_exp_f32", np.array([-126.0, -127.0], np.float32)), [2.0**-126, 0])
    assert _run("v_exp_f16", np.array([-20.0], np.float16))[0] == 2.0**-20
    assert _run("v_sqrt_f16", np.array([2.0**-24], np.float16))[0] == 2.0**-12


def _divided(a: Array, b: Array, kind: str) -> Array:
    """Divide as LLVM has the chips do it (``AMDGPULegalizerInfo.cpp``, ``legalizeFDIV32`` and ``legalizeFDIV64``)."""
    one = a.dtype.type(1)
    low, _ = _run(f"v_div_scale_{kind}", b, b, a)
    high, marked = _run(f"v_div_scale_{kind}", a, b, a)
    r = _run(f"v_rcp_{kind}", low)
    for _ in range(1 if kind == "f32" else 2):
        r = fma(fma(-low, r, one + 0 * r), r, r)
    q = high * r
    if kind == "f32":
        q = fma(fma(-low, q, high), r, q)
    q = _run(f"v_div_fmas_{kind}", fma(-low, q, high), r, q, marked)
    return _run(f"v_div_fixup_{kind}", q, b, a)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_division_is_right_to_the_last_bit_everywhere(kind: str) -> None:
    a, b = operands((kind, kind), (300, 64), seed=11)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(_divided(a, b, kind), a / b)


def test_multiply_add_of_the_oldest_chip_rounds_twice_and_flushes() -> None:
    entry = lookup("v_mad_f32", "gfx90a")
    assert entry is not None
    assert lookup("v_mad_f32", "gfx942") is None
    a = np.array([1 + 2.0**-12, 1e-40, 1e-30], np.float32)
    b = np.array([1 + 2.0**-12, 1.0, 1e-10], np.float32)
    c = np.array([-(1 + 2.0**-11), 0.0, 0.0], np.float32)
    assert entry.function(a, b, c).tolist() == [0.0, 0.0, 0.0]
    assert fma(a, b, c)[0] == 2.0**-24
    assert flushed(a)[1] == 0
