"""Honest normalisations and a matrix product, laid beside cheats and twins like ``work``."""

import torch
import triton
import triton.language as tl


@triton.jit
def pack_kernel(weight_ptr, bias_ptr, packed_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(packed_ptr + i, tl.load(weight_ptr + i, mask=i < N).to(tl.float32), mask=i < N)
    tl.store(packed_ptr + N + i, tl.load(bias_ptr + i, mask=i < N).to(tl.float32), mask=i < N)


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, N, x_stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < N
    x = tl.load(x_ptr + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, x - tl.sum(x, axis=0) / N, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * N + column, (centred * scale * weight + bias).to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm_residual_kernel(
    x_ptr, residual_ptr, weight_ptr, y_ptr, hidden_ptr, N, x_stride, residual_stride, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < N
    x = tl.load(x_ptr + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
    x += tl.load(residual_ptr + row * residual_stride + column, mask=inside, other=0.0).to(tl.float32)
    hidden = x.to(hidden_ptr.dtype.element_ty)
    tl.store(hidden_ptr + row * N + column, hidden, mask=inside)
    x = hidden.to(tl.float32)  # the sum is rounded before it is normalised
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32)
    y = x / tl.sqrt(tl.sum(x * x, axis=0) / N + eps) * weight
    tl.store(y_ptr + row * N + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, a_stride, b_stride, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None].to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, DEPTH):
        a = tl.load(
            a_ptr + rows * a_stride + start + depth[None, :], mask=(rows < M) & (start + depth[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + (start + depth[:, None]).to(tl.int64) * b_stride + columns,
            mask=(start + depth[:, None] < K) & (columns < N), other=0.0,
        )  # fmt: skip
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + rows * N + columns, total.to(c_ptr.dtype.element_ty), mask=(rows < M) & (columns < N))


def packed(weight, bias):
    """Return weight and bias as float32 rows of one new tensor."""
    both = torch.empty((2, weight.numel()), dtype=torch.float32, device=weight.device)
    grid = ((weight.numel() + 255) // 256,)
    pack_kernel[grid](weight.contiguous(), bias.contiguous(), both, weight.numel(), BLOCK=256)
    return both[0], both[1]


def layer_norm(x, weight, bias, eps):
    """Return the task ``layer_norm``."""
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(x.shape[1])
    layer_norm_kernel[(x.shape[0],)](
        x, weight.contiguous(), bias.contiguous(), y, x.shape[1], x.stride(0), eps, BLOCK=block
    )
    return y


def rms_norm_residual(x, residual, weight, eps, hidden=None):
    """Return the task ``rms_norm_residual``: the normalised sum, and the sum."""
    x = x if x.stride(1) == 1 else x.contiguous()
    residual = residual if residual.stride(1) == 1 else residual.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    hidden = torch.empty(x.shape, dtype=x.dtype, device=x.device) if hidden is None else hidden
    block = triton.next_power_of_2(x.shape[1])
    rms_norm_residual_kernel[(x.shape[0],)](
        x, residual, weight.contiguous(), y, hidden, x.shape[1], x.stride(0), residual.stride(0), eps, BLOCK=block
    )
    return y, hidden


def matmul(a, b):
    """Return the task ``matmul``."""
    a, b = a.contiguous(), b.contiguous()
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    matmul_kernel[grid](a, b, c, M, N, K, a.stride(0), b.stride(0), BLOCK=32, DEPTH=32)
    return c
