"""LayerNorm forward with explicit while loops over the row."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, stride_x, stride_y, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_x
    y_ptr += row * stride_y
    total = 0.0
    total_sq = 0.0
    off = 0
    while off != N:
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
        total += tl.sum(x, axis=0)
        off += BLOCK
    mean = total / N
    off = 0
    while off != N:
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
        d = tl.where(cols < N, x - mean, 0.0)
        total_sq += tl.sum(d * d, axis=0)
        off += BLOCK
    rstd = tl.rsqrt(total_sq / N + eps)
    off = 0
    while off != N:
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, ((x - mean) * rstd * w + b).to(y_ptr.dtype.element_ty), mask=mask)
        off += BLOCK


def layer_norm(x, weight, bias, eps):
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    BLOCK = 1024 if N % 1024 == 0 else 32
    layer_norm_kernel[(M,)](x, y, weight, bias, x.stride(0), y.stride(0), N, eps, BLOCK=BLOCK, num_warps=4)
    return y
