"""Kernels in Triton, built for chips that are not here, give the answers that PyTorch gives."""

from __future__ import annotations

import pytest
import torch

from kernelarena.platforms.emulator import Fault, FaultKind, Memory, Tally, launch, load

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

CHIPS = ("gfx90a", "gfx942", "gfx950")


@triton.jit
def scaled_sum(x, y, z, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, at < n) + alpha * tl.load(y + at, at < n), at < n)


@triton.jit
def scaled_sum_without_mask(x, y, z, alpha, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at) + alpha * tl.load(y + at), at < n)


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values))
    tl.store(y + row * n + at, powers / tl.sum(powers), at < n)


@triton.jit
def running_sum(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.cumsum(tl.load(x + at, at < n, other=0), 0), at < n)


@triton.jit
def product(a, b, c, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows, columns, depth = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, DEPTH):
        left = tl.load(a + rows[:, None] * K + start + depth[None, :])
        right = tl.load(b + (start + depth[:, None]) * BLOCK + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * BLOCK + columns[None, :], total)


@triton.jit
def cast(x, y, BLOCK: tl.constexpr, TO: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at).to(TO))


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + at, at < n, other=0), 1, at < n)


def run(function, chip, signature, constants, arguments, grid, warps=4) -> Tally:
    """Compile a function for a chip and launch it; tensors are all that it may touch."""
    names = function.arg_names
    types = dict(zip(names, signature, strict=True))
    source = ASTSource(function, types, constants)
    compiled = triton.compile(source, target=GPUTarget("hip", chip, 64), options={"num_warps": warps})
    program = load(compiled.asm["amdgcn"])
    assert program.unsupported == ()
    memory = Memory()
    tensors = {name: one for name, one in zip(names, arguments, strict=False) if isinstance(one, torch.Tensor)}
    for name, tensor in tensors.items():
        memory.add(tensor.data_ptr(), tensor.nbytes, name)
    values = [one.data_ptr() if isinstance(one, torch.Tensor) else one for one in arguments]
    (kernel,) = program.kernels
    shared = compiled.metadata.shared
    return launch(program, kernel, (grid, 1, 1), (64 * warps, 1, 1), values, memory, dynamic_lds=shared)


SUM = (["*fp32", "*fp32", "*fp32", "fp32", "i32", "constexpr"], {"BLOCK": 512})


@pytest.mark.parametrize("chip", CHIPS)
def test_a_sum_bit_for_bit(chip):
    x, y, z = torch.randn(1000), torch.randn(1000), torch.full((1000,), torch.nan)
    run(scaled_sum, chip, *SUM, [x, y, z, 2.0, 1000], 2)
    assert torch.equal(z, x + 2 * y)  # a product with a power of two is exact, so fused or not


def test_a_forgotten_mask_is_found_where_it_reads_too_far():
    x, y, z = torch.randn(1000), torch.randn(1000), torch.empty(1000)
    with pytest.raises(Fault) as raised:
        run(scaled_sum_without_mask, "gfx942", *SUM, [x, y, z, 2.0, 1000], 2)
    assert raised.value.kind is FaultKind.ILLEGAL_READ
    assert raised.value.where.workgroup == (1, 0, 0)
    assert raised.value.place.file == "test_triton_kernels.py"


def test_a_reduction_over_four_waves():
    x = torch.randn(3, 1000)
    y = torch.full_like(x, torch.nan)
    run(softmax, "gfx942", ["*fp32", "*fp32", "i32", "constexpr"], {"BLOCK": 1024}, [x, y, 1000], 3)
    assert torch.allclose(y.double(), x.double().softmax(-1), rtol=1e-6, atol=0)


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_a_scan(chip):
    x, y = torch.randint(-1000, 1000, (900,), dtype=torch.int32), torch.zeros(900, dtype=torch.int32)
    run(running_sum, chip, ["*i32", "*i32", "i32", "constexpr"], {"BLOCK": 1024}, [x, y, 900], 1)
    assert torch.equal(y, x.cumsum(0).int())


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_matrix_product(chip, dtype):
    a, b, c = torch.randn(64, 96).to(dtype), torch.randn(96, 64).to(dtype), torch.full((64, 64), torch.nan)
    name = {torch.float16: "*fp16", torch.bfloat16: "*bf16"}[dtype]
    signature = [name, name, "*fp32", "i32", "constexpr", "constexpr"]
    tally = run(product, chip, signature, {"BLOCK": 64, "DEPTH": 32}, [a, b, c, 96], 1)
    assert torch.allclose(c.double(), a.double() @ b.double(), rtol=1e-4, atol=1e-4)
    assert tally.instructions["matrix"] > 0


def test_atomics_across_workgroups():
    x, counts = torch.randint(0, 7, (1000,), dtype=torch.int32), torch.zeros(7, dtype=torch.int32)
    run(histogram, "gfx942", ["*i32", "*i32", "i32", "constexpr"], {"BLOCK": 256}, [x, counts, 1000], 4)
    assert torch.equal(counts, torch.bincount(x, minlength=7).int())


NARROW = {
    "fp8e4nv": (tl.float8e4nv, torch.float8_e4m3fn),
    "fp8e5": (tl.float8e5, torch.float8_e5m2),
    "fp8e4b8": (tl.float8e4b8, torch.float8_e4m3fnuz),
    "fp8e5b16": (tl.float8e5b16, torch.float8_e5m2fnuz),
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", NARROW)
def test_a_cast_to_eight_bits_saturates(chip, name):
    to, dtype = NARROW[name]
    x = torch.randn(1024) * torch.logspace(-9, 9, 1024, base=10)  # far beyond either end
    y = torch.zeros(1024, dtype=torch.uint8).view(dtype)
    run(cast, chip, ["*fp32", f"*{name}", "constexpr", "constexpr"], {"BLOCK": 1024, "TO": to}, [x, y], 1)
    limits = torch.finfo(dtype)
    assert torch.equal(y.view(torch.uint8), x.clamp(limits.min, limits.max).to(dtype).view(torch.uint8))
