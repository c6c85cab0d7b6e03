"""Whether a device still does what it did: a kernel that is known to be right, judged like any other."""

from __future__ import annotations

from kernelarena.spec import Kernel, Language, Sweep, TaskSource

_SOURCES = {
    Language.TORCH: "def entry(x):\n    return x * 2\n",
    Language.TRITON: """
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


def entry(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
""",
}
_REFERENCE = """
def inputs(shape, rng):
    return {"x": rng.tensor(shape["N"])}


def reference(x):
    return x * 2
"""
TASK = TaskSource.model_validate(
    {
        "task": {
            "id": "probe",
            "title": "Twice a vector",
            "kind": "elementwise",
            "source": {"suite": "kernelarena", "name": "probe"},
            "signature": "probe(x: [N]) -> y: [N]",
            "dtypes": ["float32"],
            "distributions": ["normal"],
            "layouts": ["contiguous"],
            "dims": {"N": {"max": 65536}},
            "visible": [{"N": 65536}],
            "production": [{"N": 65536}],
            "work": {"flops": "N", "bytes": "2*N*itemsize"},
        },
        "reference": _REFERENCE,
        "origin": "kernelarena",
    }
)
SWEEP = Sweep.model_validate({"hidden": {"enabled": False}, "timing": {"enabled": False}, "calls": 1})
"""One shape, one call: it says whether kernels run, and costs less than a second."""


def probe(language: Language) -> Kernel:
    """Return the kernel, in Triton or in the framework's own operators."""
    return Kernel(
        id="probe", task="probe", language=language, file="kernel.py", function="entry",
        files={"kernel.py": _SOURCES[language]}, origin="kernelarena",
    )  # fmt: skip
