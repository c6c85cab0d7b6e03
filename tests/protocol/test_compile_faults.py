"""What compilers say, and the reason that it means."""

from __future__ import annotations

import pytest

from kernelarena.platforms.toolchains import triton
from kernelarena.protocol.compile_faults import compile_reason, host_reason
from kernelarena.spec import Reason

UNSUPPORTED = Reason.UNSUPPORTED_FEATURE


@pytest.mark.parametrize(
    ("message", "log", "reason", "said"),
    [
        ("ValueError('type fp8e4b8 not supported in this architecture. The supported fp8 dtypes are (\"a\")')", "",
         UNSUPPORTED, "type fp8e4b8 not supported in this architecture. The supported fp8 dtypes are (\"a\")"),
        ("PassManager::run failed", "error: couldn't allocate output register for constraint 'f'", UNSUPPORTED,
         "inline assembly of another chip: couldn't allocate output register for constraint 'f'"),
        ("invalid output constraint '=f' in asm", "", UNSUPPORTED,
         "inline assembly of another chip: invalid output constraint '=f' in asm"),
        ("'__builtin_of_a_chip' needs target feature fp8-insts", "", UNSUPPORTED, "needs target feature fp8-insts"),
        ("", "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.x", UNSUPPORTED,
         "the chip has no instruction for it: Cannot select: intrinsic %llvm.nvvm.x"),
        ("AttributeError(\"module 'triton.language' has no attribute 'make_block_ptr'\")", "", UNSUPPORTED,
         "this toolchain has no triton.language.make_block_ptr (any more)"),
        ("num_ctas > 1 not supported on gfx942", "", UNSUPPORTED, "num_ctas > 1 not supported on gfx942"),
        ("out of resource: shared memory, Required: 3", "", Reason.RESOURCE_EXCEEDED, "out of resource: shared"),
        ("PassManager::run failed", "k.py:3:4: error: operand types differ\nnote: x", Reason.COMPILE_ERROR,
         "operand types differ"),
        ("NameError('x is not defined')", "warning: y", Reason.COMPILE_ERROR, "NameError('x is not defined')"),
        ("", "only a log", Reason.COMPILE_ERROR, "only a log"),
        ("x " * 500, "", Reason.COMPILE_ERROR, "…"),
    ],
)  # fmt: skip
def test_compilers(message, log, reason, said):
    found, detail = compile_reason(message, log)
    assert found is reason
    assert said in detail
    assert "\n" not in detail
    assert len(detail) <= 300


def test_a_misspelt_name_is_an_error_of_the_source(monkeypatch):
    monkeypatch.setattr(triton, "names", lambda: frozenset({"load", "sigmoid", "exp"}))
    error = "AttributeError(\"module 'triton.language' has no attribute 'laod'\")"
    expected = (Reason.COMPILE_ERROR, "triton.language has no 'laod'; did you mean 'load'?")
    assert compile_reason(error) == compile_reason("failed", error) == expected
    assert host_reason("InterpreterError", error) == expected
    assert host_reason("AttributeError", error.replace("laod", "advance"))[0] is UNSUPPORTED


def test_host_code():
    assert host_reason("AssertionError", "") == (Reason.LAUNCH_ERROR, "the host code raises AssertionError")
    assert host_reason("ValueError", "a\nb")[1] == "the host code raises ValueError: a b"
    for kind in ("MemoryError", "OutOfMemoryError", "hipErrorOutOfMemory", "cudaErrorMemoryAllocation"):
        assert host_reason(kind, "it returned 2") == (
            Reason.OUT_OF_MEMORY,
            f"the host code raises {kind}: it returned 2",
        )
    reason, detail = host_reason("AttributeError", "module 'triton.language' has no attribute 'advance'")
    assert (reason, detail) == (UNSUPPORTED, "this toolchain has no triton.language.advance (any more)")
    assert host_reason("AttributeError", "'Tensor' object has no attribute 'x'")[0] is Reason.LAUNCH_ERROR
