"""Fused row softmax: the whole row in one block when it fits, a blocked kernel when it does not."""

import torch
import triton
import triton.language as tl

MAX_FUSED = 16384


@triton.autotune(
    configs=[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)],
    key=["N"],
)
@triton.jit
def fused_row_kernel(out_ptr, in_ptr, in_stride, out_stride, N, BLOCK_SIZE: tl.constexpr):
    row_idx = tl.program_id(0)
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < N
    row = tl.load(in_ptr + row_idx.to(tl.int64) * in_stride + offs, mask=mask, other=-float("inf")).to(tl.float32)
    row = row - tl.max(row, axis=0)
    numerator = tl.exp(row)
    denominator = tl.sum(numerator, axis=0)
    tl.store(out_ptr + row_idx.to(tl.int64) * out_stride + offs, numerator / denominator, mask=mask)


@triton.jit
def blocked_row_kernel(out_ptr, in_ptr, in_stride, out_stride, N, BLOCK_SIZE: tl.constexpr):
    row_idx = tl.program_id(0).to(tl.int64)
    maxima = tl.full((BLOCK_SIZE,), -float("inf"), tl.float32)
    for start in range(0, N, BLOCK_SIZE):
        offs = start + tl.arange(0, BLOCK_SIZE)
        v = tl.load(in_ptr + row_idx * in_stride + offs, mask=offs < N, other=-float("inf")).to(tl.float32)
        maxima = tl.maximum(maxima, v)
    m = tl.max(maxima, axis=0)
    sums = tl.zeros((BLOCK_SIZE,), tl.float32)
    for start in range(0, N, BLOCK_SIZE):
        offs = start + tl.arange(0, BLOCK_SIZE)
        v = tl.load(in_ptr + row_idx * in_stride + offs, mask=offs < N, other=-float("inf")).to(tl.float32)
        sums += tl.exp(v - m)
    d = tl.sum(sums, axis=0)
    for start in range(0, N, BLOCK_SIZE):
        offs = start + tl.arange(0, BLOCK_SIZE)
        v = tl.load(in_ptr + row_idx * in_stride + offs, mask=offs < N, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + row_idx * out_stride + offs, tl.exp(v - m) / d, mask=offs < N)


def softmax(x):
    n_rows, n_cols = x.shape
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if n_cols <= MAX_FUSED:
        block = triton.next_power_of_2(n_cols)
        fused_row_kernel[(n_rows,)](out, x, x.stride(0), out.stride(0), n_cols, BLOCK_SIZE=block)
    else:
        blocked_row_kernel[(n_rows,)](out, x, x.stride(0), out.stride(0), n_cols, BLOCK_SIZE=4096, num_warps=8)
    return out
