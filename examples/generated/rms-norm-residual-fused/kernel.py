"""Fused residual add + RMSNorm.

    new_residual = x + residual
    y            = new_residual * rsqrt(mean(new_residual^2) + eps) * weight

The sum is written once and read back by the same program, so rows of any length work.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_rms_norm_kernel(
    x_ptr, res_ptr, w_ptr, y_ptr, new_res_ptr, stride_x, stride_r, stride_y, N, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(res_ptr + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
        s = (x + r).to(new_res_ptr.dtype.element_ty)
        tl.store(new_res_ptr + row * stride_y + cols, s, mask=mask)
        s = s.to(tl.float32)
        squares += s * s
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(res_ptr + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        s = (x + r).to(new_res_ptr.dtype.element_ty).to(tl.float32)
        tl.store(y_ptr + row * stride_y + cols, (s * rstd * w).to(y_ptr.dtype.element_ty), mask=mask)


def rms_norm_residual(x, residual, weight, eps):
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    new_residual = torch.empty((M, N), device=x.device, dtype=x.dtype)
    BLOCK = min(4096, triton.next_power_of_2(N))
    add_rms_norm_kernel[(M,)](
        x,
        residual,
        weight,
        y,
        new_residual,
        x.stride(0),
        residual.stride(0),
        y.stride(0),
        N,
        eps,
        BLOCK=BLOCK,
        num_warps=8 if BLOCK > 1024 else 4,
    )
    return y, new_residual
