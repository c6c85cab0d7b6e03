"""Runs kernels in the interpreter, which must be chosen before Triton is imported: hence a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

PREAMBLE = """
import torch, triton, triton.language as tl
from kernelarena.platforms.persona.arithmetic import mended_arithmetic

def close(got, expected, ulps=1):
    eps = torch.finfo(got.dtype).eps
    got, expected = got.double(), expected.double()
    assert torch.isfinite(got).all(), got
    assert ((got - expected).abs() <= ulps * eps * expected.abs() + 1e-30).all(), (got, expected)
"""

PROGRAMS = {
    "bfloat16 sums, products, quotients and comparisons": """
        @triton.jit
        def k(x, y, o, c, N: tl.constexpr):
            i = tl.arange(0, N)
            a, b = tl.load(x + i), tl.load(y + i)
            tl.store(o + i, a + b)
            tl.store(o + N + i, a * b)
            tl.store(o + 2 * N + i, a - b)
            tl.store(o + 3 * N + i, -a)
            tl.store(o + 4 * N + i, tl.maximum(a, b))
            tl.store(c + i, (a < b).to(tl.int32))
        x, y = (torch.randn(64).bfloat16() for _ in range(2))
        o, c = torch.empty(5, 64, dtype=torch.bfloat16), torch.empty(64, dtype=torch.int32)
        with mended_arithmetic():
            k[(1,)](x, y, o, c, 64)
        assert torch.equal(o, torch.stack([x + y, x * y, x - y, -x, torch.maximum(x, y)]))
        assert torch.equal(c.bool(), x < y)
    """,
    "casts between bfloat16 and the other types round to nearest": """
        @triton.jit
        def k(x, wide, narrow, whole, N: tl.constexpr):
            i = tl.arange(0, N)
            v = tl.load(x + i)
            tl.store(narrow + i, v.to(tl.bfloat16))
            tl.store(wide + i, v.to(tl.bfloat16).to(tl.float64))
            tl.store(whole + i, (v * 100).to(tl.bfloat16).to(tl.int32))
            tl.store(narrow + N + i, i.to(tl.bfloat16))
        x = torch.randn(256)
        wide, narrow = torch.empty(256, dtype=torch.float64), torch.empty(2, 256, dtype=torch.bfloat16)
        whole = torch.empty(256, dtype=torch.int32)
        with mended_arithmetic():
            k[(1,)](x, wide, narrow, whole, 256)
        assert torch.equal(narrow, torch.stack([x.bfloat16(), torch.arange(256).bfloat16()]))
        assert torch.equal(wide, x.bfloat16().double())
        assert torch.equal(whole, (x * 100).bfloat16().int())
    """,
    "tl.dot of bfloat16 with a float32 accumulator": """
        @triton.jit
        def k(a, b, c, N: tl.constexpr):
            i = tl.arange(0, N)
            at = i[:, None] * N + i[None, :]
            tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), tl.full((N, N), 1.0, tl.float32)))
        a, b = (torch.randn(32, 32).bfloat16() for _ in range(2))
        c = torch.empty(32, 32)
        with mended_arithmetic():
            k[(1,)](a, b, c, 32)
        assert torch.allclose(c, a.float() @ b.float() + 1, atol=1e-5)
    """,
    "tl.dot of float8": """
        @triton.jit
        def k(a, b, c, N: tl.constexpr):
            i = tl.arange(0, N)
            at = i[:, None] * N + i[None, :]
            tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))
        a, b = (torch.randn(32, 32).to(torch.float8_e4m3fn) for _ in range(2))
        c = torch.empty(32, 32)
        with mended_arithmetic():
            k[(1,)](a, b, c, 32)
        assert torch.allclose(c, a.float() @ b.float(), atol=1e-5)
    """,
    "conversion to float8, both flavours": """
        @triton.jit
        def k(x, q, N: tl.constexpr):
            i = tl.arange(0, N)
            tl.store(q + i, tl.load(x + i).to(q.dtype.element_ty))
        x = torch.cat([torch.randn(512) * 50, torch.randn(512) / 100])
        from triton.runtime.interpreter import InterpreterBuilder
        dtypes = [torch.float8_e4m3fn, torch.float8_e5m2]
        if hasattr(InterpreterBuilder, "get_fp8e4b8_ty"):  # not in Triton 3.6
            dtypes.append(torch.float8_e4m3fnuz)
        for dtype in dtypes:
            q = torch.empty(1024, dtype=dtype)
            with mended_arithmetic():
                k[(1,)](x.clamp(-240, 240), q, 1024)
            assert torch.equal(q.float(), x.clamp(-240, 240).to(dtype).float()), dtype
    """,
    "the half types that NumPy has are left alone": """
        @triton.jit
        def k(x, o, N: tl.constexpr):
            i = tl.arange(0, N)
            v = tl.load(x + i)
            tl.store(o + i, (v * v + 1.0).to(tl.float16))
        x, o = torch.randn(64).half(), torch.empty(64, dtype=torch.float16)
        with mended_arithmetic():
            k[(1,)](x, o, 64)
        close(o, (x * x + 1).double(), ulps=2)
    """,
    "libdevice, by its general name and by a vendor's": """
        from triton.language.extra import libdevice
        from triton.language.extra.cuda import libdevice as other
        @triton.jit
        def k(x, o, N: tl.constexpr):
            i = tl.arange(0, N)
            v = tl.load(x + i)
            tl.store(o + i, libdevice.tanh(v) + other.pow(tl.abs(v), 1.5) + libdevice.erf(v))
            tl.store(o + N + i, libdevice.isnan(v).to(tl.float32))
        x, o = torch.randn(64), torch.empty(2, 64)
        with mended_arithmetic():
            k[(1,)](x, o, 64)
        assert torch.allclose(o[0], torch.tanh(x) + x.abs() ** 1.5 + torch.erf(x), atol=1e-5)
        assert not o[1].any()
    """,
    "reductions and scans of bfloat16": """
        @triton.jit
        def k(x, total, every, largest, at, running, M: tl.constexpr, N: tl.constexpr):
            i, j = tl.arange(0, M), tl.arange(0, N)
            v = tl.load(x + i[:, None] * N + j[None, :])
            tl.store(total + i, tl.sum(v, axis=1))
            tl.store(total + M + j, tl.sum(v, axis=0))
            tl.store(every, tl.sum(v))
            tl.store(largest + i, tl.max(v, axis=1))
            value, index = tl.min(v, axis=1, return_indices=True)
            tl.store(largest + M + i, value)
            tl.store(at + i, index)
            tl.store(running + i[:, None] * N + j[None, :], tl.cumsum(v, axis=1))
        M, N = 16, 64
        x = torch.randn(M, N).bfloat16()
        total, every = torch.empty(M + N, dtype=torch.bfloat16), torch.empty(1, dtype=torch.bfloat16)
        largest, at = torch.empty(2 * M, dtype=torch.bfloat16), torch.empty(M, dtype=torch.int32)
        running = torch.empty(M, N, dtype=torch.bfloat16)
        with mended_arithmetic():
            k[(1,)](x, total, every, largest, at, running, M, N)
        wide = x.float()
        expected = torch.cat([wide.sum(1), wide.sum(0)])
        assert ((total.float() - expected).abs() < 0.2).all() and (total.float() - expected).abs().sum() > 0
        assert abs(every.item() - wide.sum().item()) < 1
        assert torch.equal(largest, torch.cat([x.max(1).values, x.min(1).values]))
        assert torch.equal(at.long(), wide.argmin(1))
        assert ((running.float() - wide.cumsum(1)).abs() < 0.3).all()
    """,
    "libdevice of a scalar is a scalar": """
        from triton.language.extra import libdevice
        @triton.jit
        def k(x, o, N: tl.constexpr):
            i = tl.arange(0, N)
            v = tl.load(x + i)
            tl.store(o + N, libdevice.rsqrt(tl.sum(v * v, axis=0) / N))
            tl.store(o + i, libdevice.pow(v * v, tl.sum(v, axis=0)))
        x, o = torch.rand(64), torch.empty(65)
        with mended_arithmetic():
            k[(1,)](x, o, 64)
        assert torch.allclose(o[64], x.square().mean().rsqrt())
        assert torch.allclose(o[:64], x.square() ** x.sum(), atol=1e-6)
    """,
    "a float argument is a float32 scalar": """
        @triton.jit
        def k(x, o, eps, scale, N: tl.constexpr):
            i = tl.arange(0, N)
            v = tl.load(x + i)
            tl.static_assert((v * scale).dtype == tl.float32)
            tl.store(o + i, v * scale + eps.to(tl.float32))
        x, o = torch.randn(64).half(), torch.empty(64)
        with mended_arithmetic():
            k[(1,)](x, o, 1e-6, 1 / 3, 64)
        assert torch.equal(o, x.float() * torch.tensor(1 / 3) + torch.tensor(1e-6))
    """,
    "atomic sums in bfloat16, several at one address": """
        @triton.jit
        def k(x, at, o, before, n, N: tl.constexpr):
            i = tl.arange(0, N)
            old = tl.atomic_add(o + tl.load(at + i), tl.load(x + i), mask=i < n)
            tl.store(before + i, old, mask=i < n)
        x, at = torch.arange(1, 65).bfloat16(), torch.arange(64) % 5
        o, before = torch.zeros(5, dtype=torch.bfloat16), torch.full((64,), -1, dtype=torch.bfloat16)
        with mended_arithmetic():
            k[(1,)](x, at, o, before, 60, 64)
        running, expected = torch.zeros(5), []
        for index in range(60):
            expected.append(running[at[index]].item())
            running[at[index]] = (running[at[index]] + x[index]).bfloat16()
        assert torch.equal(o.float(), running)
        assert before.tolist() == expected + [-1] * 4
    """,
    "every libdevice function is one that device code may name and call": """
        from triton.language.extra import libdevice
        from kernelarena.platforms.persona.arithmetic import _LIBDEVICE
        from kernelarena.platforms.persona.device_values import may_be_called, may_be_named
        with mended_arithmetic():
            given = {name: getattr(libdevice, name) for name in _LIBDEVICE if hasattr(libdevice, name)}
            assert len(given) > 30
            assert [name for name, one in given.items() if not (may_be_called(one) and may_be_named(one))] == []
    """,
    "everything is put back": """
        from triton.runtime import interpreter
        from triton.language.extra import libdevice
        seen = lambda: (dict(vars(interpreter.InterpreterBuilder)), dict(vars(libdevice)), interpreter._implicit_cvt)
        before = seen()
        with mended_arithmetic():
            assert vars(interpreter.InterpreterBuilder) != before[0]
        assert seen() == before
    """,
}


RUNNER = """
import json, linecache, traceback
results = {}
for number, (name, text) in enumerate(json.load(open("programs.json")).items()):
    open(f"program_{number}.py", "w").write(text)  # the interpreter reads a kernel's source from its file
    try:
        exec(compile(text, f"program_{number}.py", "exec"), {"__name__": f"program_{number}"})
        results[name] = ""
    except BaseException:
        results[name] = traceback.format_exc()[-2000:]
json.dump(results, open("results.json", "w"))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("interpreter")
    programs = {name: PREAMBLE + textwrap.dedent(text) for name, text in PROGRAMS.items()}
    (folder / "programs.json").write_text(json.dumps(programs))
    subprocess.run(
        [sys.executable, "-c", RUNNER],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=folder,
        timeout=200,
        check=True,
    )
    found: dict[str, str] = json.loads((folder / "results.json").read_text())
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreter_computes_as_a_chip(name: str, results: dict[str, str]) -> None:
    assert results[name] == "", results[name]
