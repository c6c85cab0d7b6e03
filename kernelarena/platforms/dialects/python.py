"""What Triton kernels and their host code import, call and ask that is of one vendor.

Sources: Triton's own package (``language/extra``, ``experimental/gluon``, ``backends``); PyTorch, "HIP (ROCm)
semantics", on ``torch.version.hip`` and what ``torch.cuda`` answers there.
"""

from __future__ import annotations

import re

from kernelarena.platforms.dialects.where import AMD, NVIDIA, Construct, Where

_NVIDIA, _AMD = (Where(NVIDIA),), (Where(AMD),)

MODULES = (
    Construct(
        "device functions of one vendor",
        ("triton.language.extra.cuda*",),
        _NVIDIA,
        "triton.language.extra.libdevice, which is the right one on every chip, or tl.math",
    ),
    Construct(
        "device functions of one vendor",
        ("triton.language.extra.hip*",),
        _AMD,
        "triton.language.extra.libdevice, which is the right one on every chip, or tl.math",
    ),
    Construct(
        "an instruction set of one vendor",
        ("triton.experimental.gluon.language.nvidia*",),
        _NVIDIA,
        "triton.language, or a path of its own that is chosen by the target's backend",
    ),
    Construct(
        "an instruction set of one vendor",
        ("triton.experimental.gluon.language.amd*",),
        _AMD,
        "triton.language, or a path of its own that is chosen by the target's backend",
    ),
    Construct(
        "the management library of one vendor",
        ("pynvml*",),
        _NVIDIA,
        "torch.cuda.get_device_properties(), which answers on both",
    ),
    Construct(
        "the management library of one vendor",
        ("amdsmi*",),
        _AMD,
        "torch.cuda.get_device_properties(), which answers on both",
    ),
    Construct(
        "templates of one vendor",
        ("cutlass*", "cuda.bindings*", "cuda.core*", "cupy*"),
        _NVIDIA,
        "triton.language, or a path of its own that is chosen by torch.version.hip",
    ),
)
"""By the module that is imported."""

_BITCODE = ((re.compile(r"libdevice(\.\d+)?\.bc$"), Where(NVIDIA)), (re.compile(r"(ocml|ockl)\.bc$"), Where(AMD)))


def bitcode(path: str) -> Where | None:
    """Return who links a file of device functions that is named by its path; None where it is no such file."""
    return next((where for pattern, where in _BITCODE if pattern.search(path)), None)


FLOAT8_TYPES = {
    "triton.language.float8e4nv": ("float8_e4m3", "float8_e4m3fn"),
    "triton.language.float8e4b8": ("float8_e4m3", "float8_e4m3fnuz"),
    "triton.language.float8e5b16": ("float8_e5m2", "float8_e5m2fnuz"),
    "torch.float8_e4m3fn": ("float8_e4m3", "float8_e4m3fn"),
    "torch.float8_e4m3fnuz": ("float8_e4m3", "float8_e4m3fnuz"),
    "torch.float8_e5m2fnuz": ("float8_e5m2", "float8_e5m2fnuz"),
}
"""Eight-bit types whose other flavour means other numbers by the same bits: the canonical dtype, and the flavour."""

CAPABILITY = frozenset({"torch.cuda.get_device_capability"})
"""Functions that answer with the numbers of an architecture, which each vendor counts in its own way."""

NAMES = frozenset({"torch.cuda.get_device_name", "torch.cuda.get_device_properties.name"})
"""What answers with the name of the chip."""

_QUESTION = re.compile(r"(?:^|[._])(?:hip|rocm|amd|cuda_available|nvidia|ptx|cdna|rdna|gcn|gfx|xpu|npu|musa)", re.I)
_QUESTIONS = re.compile(
    r"^(?:torch\.version\.(?:cuda|hip|xpu)|.*get_current_target.*|(?:.*[._])?is_(?:cuda|hip|amd|nvidia|rocm)\w*"
    r"|.*\.gcnArchName|.*target\.backend|.*infer_device\w*)$"
)


def asks_for_vendor(name: str) -> bool:
    """Return whether a name, with the modules that it comes from, asks whose chip it is."""
    return _QUESTIONS.match(name) is not None or _QUESTION.search(name) is not None


ON_DEVICE = frozenset({"is_cuda"})
"""What is asked of a tensor, and is true on the devices of every vendor that PyTorch shows as that."""

ROUNDED_DOT = Where(NVIDIA)
"""Where Triton's ``tl.dot`` of float32 uses tensor cores in TF32 unless it is told otherwise; elsewhere it is exact."""

CAPABILITY_NUMBERS = Where(NVIDIA)
"""Whose numbers a comparison with a compute capability has in mind."""
