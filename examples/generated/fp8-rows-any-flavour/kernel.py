"""Dynamic per-row float8 quantisation that follows the flavour it is asked for.

The element type comes from the output tensor and the largest value from torch.finfo, so the same source
serves e4m3fn (448) and e4m3fnuz (240).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def quantise_row_kernel(x_ptr, q_ptr, scale_ptr, stride_x, N, limit, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    peak = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_x + cols, mask=cols < N, other=0.0).to(tl.float32)
        peak = tl.maximum(peak, tl.abs(x))
    scale = tl.maximum(tl.max(peak, axis=0), 1e-12) / limit
    tl.store(scale_ptr + row, scale)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_x + cols, mask=cols < N, other=0.0).to(tl.float32)
        y = tl.minimum(tl.maximum(x / scale, -limit), limit)
        tl.store(q_ptr + row * N + cols, y.to(q_ptr.dtype.element_ty), mask=cols < N)


def fp8_quantise_rows(x, q_like):
    M, N = x.shape
    q = torch.empty((M, N), device=x.device, dtype=q_like.dtype)
    scale = torch.empty((M,), device=x.device, dtype=torch.float32)
    limit = torch.finfo(q_like.dtype).max
    BLOCK = min(4096, triton.next_power_of_2(N))
    quantise_row_kernel[(M,)](x, q, scale, x.stride(0), N, limit, BLOCK=BLOCK, num_warps=4 if BLOCK <= 1024 else 8)
    return q, scale
