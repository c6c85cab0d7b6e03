"""Python sources: what counts as asking whose chip it is, what names stand for, and C++ inside Python."""

from __future__ import annotations

import pytest

from kernelarena.portability.source import Grammar
from tests.portability.test_rules import found, rules

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
LAUNCH = "kernel[(1,)](x, num_warps={})"


def python(text):
    return rules(HEAD + text, Grammar.PYTHON)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    kernel[(1,)](x, num_warps=32)",
        "WARPS = 32\ndef f(x):\n    kernel[(1,)](x, num_warps=WARPS)",
        "WARPS: tl.constexpr = 1 << 5\ndef f(x):\n    kernel[(1,)](x, num_warps=WARPS)",
        "WARPS = tl.constexpr(4 * 8)\ndef f(x):\n    kernel[(1,)](x, num_warps=WARPS)",
        "def warps(n):\n    num_warps = 4\n    if n > 9:\n        num_warps = 32\n    return num_warps",
        "configs = [triton.Config({}, num_warps=32), triton.Config({}, num_warps=64)]",
        "def f(x):\n    assert x.is_cuda\n    kernel[(1,)](x, num_warps=32)",
        "def f(x):\n    if x.is_cuda:\n        kernel[(1,)](x, num_warps=32)",
        "def for_nvidia(x):\n    kernel[(1,)](x, num_warps=32)\ndef g(x):\n    for_nvidia(x)",
    ],
)
def test_too_many_warps_whatever_the_chip(text):
    assert python(text) == ["num-warps"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    kernel[(1,)](x, num_warps=16)",
        "def f(x, warps):\n    kernel[(1,)](x, num_warps=warps)",
        "def f(x):\n    kernel[(1,)](x, num_warps=16 if torch.version.hip else 32)",
        "configs = [triton.Config({}, num_warps=32), triton.Config({}, num_warps=8)]",
        "configs = [triton.Config({}, num_warps=32), triton.Config({})]",
        "configs = [triton.Config({}, num_warps=warps) for warps in (32, 64)]",
        "def f(x):\n    if torch.version.hip:\n        return\n    kernel[(1,)](x, num_warps=32)",
        "def f(x):\n    if not torch.version.hip:\n        kernel[(1,)](x, num_warps=32)",
        "WIDE = torch.version.hip is not None\ndef f(x):\n    if not WIDE:\n        kernel[(1,)](x, num_warps=32)",
        "from triton._internal_testing import is_cuda\n"
        "def f(x):\n    if is_cuda():\n        kernel[(1,)](x, num_warps=32)",
        "def backend():\n    return triton.runtime.driver.active.get_current_target().backend\n"
        "def f(x):\n    if backend() == 'cuda':\n        kernel[(1,)](x, num_warps=32)",
        "def f(x):\n    kernel[(1,)](x, num_warps=32)\ndef g(x):\n    if torch.version.cuda:\n        f(x)",
        "@skip_unless(is_cuda())\ndef f(x):\n    kernel[(1,)](x, num_warps=32)",
        "other(num_warps=32)",
    ],
)
def test_warps_that_fit_or_are_chosen_by_the_chip(text):
    assert python(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import triton.language.extra.cuda.libdevice", ["vendor-library"]),
        ("from triton.language.extra import cuda", ["vendor-library"]),
        ("from triton.language.extra import libdevice", []),
        ("try:\n    import pynvml\nexcept ImportError:\n    pynvml = None", []),
        ("def f():\n    try:\n        f()\n    finally:\n        import pynvml", ["vendor-library"]),
        ("if torch.version.hip:\n    import amdsmi\nelse:\n    import pynvml", []),
        ("from . import cuda", []),
    ],
)
def test_imports(text, expected):
    assert python(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q = torch.empty(3, dtype=torch.float8_e4m3fn)", ["float8-flavour"]),
        ("FP8 = torch.float8_e4m3fn", ["float8-flavour"]),
        ("def f(q):\n    return q.dtype == torch.float8_e4m3fn", []),
        ("SIZES = {torch.float8_e4m3fn: 1}", []),
        ("def f(q):\n    return q.dtype in (torch.float8_e4m3fn, torch.float16)", []),
        ("PAIR = torch.float8_e4m3fn\nOTHER = torch.float8_e4m3fnuz", []),
    ],
)
def test_flavours_of_eight_bits(text, expected):
    assert python(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("major, minor = torch.cuda.get_device_capability()\nfast = major >= 9", []),  # which is not followed
        ("major = torch.cuda.get_device_capability()[0]\nfast = major >= 9", ["device-capability"]),
        ("cc = torch.cuda.get_device_capability()\nfast = cc == (9, 0) and torch.version.hip is None", []),
        ("fast = torch.cuda.get_device_name().lower() == 'nvidia a100'", ["device-name"]),
        ("green = 'NVIDIA' in torch.cuda.get_device_name()", []),
    ],
)
def test_questions_that_leave_chips_out(text, expected):
    assert python(text) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("tl.dot(a.to(tl.float32), b)", ["dot-precision"]),
        ("tl.dot(a.to(tl.float16), b)", []),
        ("tl.dot(a, b)", []),
        ("tl.dot(a.to(tl.float32), b, allow_tf32=False)", []),
        ("tl.dot(a.to(tl.float32), b, **options)", []),
    ],
)
def test_products_of_float32(call, expected):
    assert python(f"@triton.jit\ndef k(a, b, c):\n    tl.store(c, {call})") == expected


INLINE = '''from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <mma.h>
__global__ void k(float* x) {
  x[0] += __shfl_xor_sync(0xffffffff, x[0], 1);
}
"""
module = load_inline(name="k", cpp_sources="void f();", cuda_sources=[SOURCE], functions=["f"])
'''


def test_cpp_that_a_python_file_builds_is_looked_at_where_it_stands():
    findings = found(INLINE, Grammar.PYTHON)
    assert [(finding.rule, finding.line, finding.column) for finding in findings] == [
        ("vendor-library", 4, 1),
        ("lane-mask", 6, 27),
    ]
    assert findings[1].text == "  x[0] += __shfl_xor_sync(0xffffffff, x[0], 1);"


def test_columns_are_counted_in_characters():
    (finding,) = found(HEAD + "ä = 'é'; ü = torch.float8_e4m3fn", Grammar.PYTHON)
    assert (finding.line, finding.column, finding.end_column) == (4, 14, 33)
    (finding,) = found("/* äöü */ __device__ void f() { __syncwarp(0xffffffff); }")
    assert (finding.column, finding.end_column) == (44, 54)
