"""Functions of the device's libraries, as clang builds them, give on the emulator what they promise on the chip.

They are long chains of everything that the vector unit does (fused sums, scaled divisions, reductions of angles,
tables, 64-bit integers), so that one wrong instruction shows in their last digits.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelarena.platforms.emulator import Memory, Program, launch, load
from kernelarena.platforms.emulator.instructions.kinds import Array
from kernelarena.platforms.toolchains.cpp import clang

_ARCH = "gfx942"
_COUNT = 512
_OPERATIONS: dict[str, tuple[str, str, Callable[..., Any], float, float]] = {
    # name: type, expression, the same in Python, arguments up to, units in the last place
    "exp_f": ("float", "expf(x)", math.exp, 80.0, 1.0),
    "log_f": ("float", "logf(x)", math.log, 1e30, 2.0),
    "sin_f": ("float", "sinf(x)", math.sin, 1e6, 2.0),
    "pow_f": ("float", "powf(x, y)", math.pow, 9.0, 2.0),
    "tanh_f": ("float", "tanhf(x)", math.tanh, 5.0, 2.0),
    "erf_f": ("float", "erff(x)", math.erf, 4.0, 4.0),
    "divide_f": ("float", "x / y", lambda x, y: x / y, 1e20, 0.5),
    "root_f": ("float", "sqrtf(x)", math.sqrt, 1e20, 0.5),
    "rest_f": ("float", "fmodf(x, y)", math.fmod, 1e6, 0.0),
    "exp_d": ("double", "exp(x)", math.exp, 600.0, 1.0),
    "sin_d": ("double", "sin(x)", math.sin, 1e300, 2.0),
    "divide_d": ("double", "x / y", lambda x, y: x / y, 1e200, 0.5),
    "root_d": ("double", "sqrt(x)", math.sqrt, 1e200, 0.5),
    "divide_l": ("long long", "x / y", lambda x, y: x // y, 2.0**62, 0.0),
    "rest_l": ("unsigned long long", "x % y", lambda x, y: x % y, 2.0**62, 0.0),
    "divide_i": ("unsigned", "x / y", lambda x, y: x // y, 2.0**31, 0.0),
    "to_float": ("unsigned long long", "(unsigned long long)(float)x", lambda x: int(np.float32(x)), 2.0**60, 0.0),
}
_DTYPES: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "long long": np.int64, "unsigned long long": np.uint64,
    "unsigned": np.uint32,
}  # fmt: skip


def _source() -> str:
    kernels = [
        f'extern "C" __global__ void {name}({kind}* r, const {kind}* a, const {kind}* b) {{\n'
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  {kind} x = a[i], y = b[i];\n  r[i] = {expression};\n}}\n"
        for name, (kind, expression, *_) in _OPERATIONS.items()
    ]
    return "#include <hip/hip_runtime.h>\n" + "".join(kernels)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    compiler = next((one for one in clang.compilers() if one.why_not(_ARCH) is None), None)
    if compiler is None:
        pytest.skip(f"no compiler here builds for {_ARCH}; {clang.INSTALL}")
    folder: Path = tmp_path_factory.mktemp("programs")
    (folder / "kernels.hip").write_text(_source())
    compiler.prepare(_ARCH, folder)
    command = [
        compiler.program, "-x", "hip", f"--offload-arch={_ARCH}", "--offload-device-only", "-S", "-O3", "-std=c++17",
        f"--rocm-path={compiler.root}", f"--rocm-device-lib-path={folder / 'bitcode'}",
        "-o", str(folder / "kernels.s"), str(folder / "kernels.hip"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return load((folder / "kernels.s").read_text())


def _arguments(kind: str, largest: float, rng: np.random.Generator) -> Array:
    """Draw positive arguments of every size up to the largest."""
    sizes = np.exp(rng.uniform(math.log(1e-3 if kind in ("float", "double") else 1), math.log(largest), _COUNT))
    return sizes.astype(_DTYPES[kind])


@pytest.mark.parametrize("name", _OPERATIONS)
def test_it_is_as_exact_as_its_library_promises(program: Program, name: str) -> None:
    kind, expression, truth, largest, units = _OPERATIONS[name]
    rng = np.random.default_rng(12)
    a, b = (_arguments(kind, largest, rng) for _ in range(2))
    result = np.zeros_like(a)
    memory = Memory()
    for label, array in (("r", result), ("a", a), ("b", b)):
        memory.add(array.ctypes.data, array.nbytes, label, writable=label == "r")
    launch(program, name, (2, 1, 1), (_COUNT // 2, 1, 1), [array.ctypes.data for array in (result, a, b)], memory)
    both = "y" in expression
    expected = [truth(*((x, y) if both else (x,))) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    if units == 0:
        assert result.tolist() == expected
        return
    exact = np.array(expected, np.float64)
    last = np.spacing(np.abs(exact).astype(result.dtype)).astype(np.float64)
    assert (np.abs(result.astype(np.float64) - exact) <= units * last).all()
