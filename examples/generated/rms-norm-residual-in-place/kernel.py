"""Fused add + RMSNorm that updates the residual stream in place, as inference engines do."""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_add_rms_norm(
    x_ptr, residual_ptr, weight_ptr, y_ptr, stride_x, stride_r, stride_y, N, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(residual_ptr + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
    h = (x + r).to(residual_ptr.dtype.element_ty)
    tl.store(residual_ptr + row * stride_r + cols, h, mask=mask)
    h = h.to(tl.float32)
    rstd = tl.rsqrt(tl.sum(h * h, axis=0) / N + eps)
    w = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * stride_y + cols, (h * rstd * w).to(y_ptr.dtype.element_ty), mask=mask)


def rms_norm_residual(x, residual, weight, eps):
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    fused_add_rms_norm[(M,)](
        x,
        residual,
        weight,
        y,
        x.stride(0),
        residual.stride(0),
        y.stride(0),
        N,
        eps,
        BLOCK=triton.next_power_of_2(N),
        num_warps=8,
    )
    return y, residual
