"""Per-token float8 quantisation for Hopper: e4m3fn, largest value 448."""

import torch
import triton
import triton.language as tl

FP8_MAX = 448.0


@triton.jit
def per_token_quant_kernel(x_ptr, q_ptr, s_ptr, stride_x, stride_q, N, FP8_MAX: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    absmax = 1e-12
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_x + cols, mask=cols < N, other=0.0).to(tl.float32)
        absmax = tl.maximum(absmax, tl.max(tl.abs(x), axis=0))
    scale = absmax / FP8_MAX
    tl.store(s_ptr + row, scale)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
        x = tl.clamp(x / scale, -FP8_MAX, FP8_MAX)
        tl.store(q_ptr + row * stride_q + cols, x.to(tl.float8e4nv), mask=mask)


def fp8_quantise_rows(x, q_like):
    M, N = x.shape
    q = torch.empty((M, N), device=x.device, dtype=torch.float8_e4m3fn)
    s = torch.empty((M,), device=x.device, dtype=torch.float32)
    BLOCK = min(2048, triton.next_power_of_2(N))
    per_token_quant_kernel[(M,)](x, q, s, x.stride(0), q.stride(0), N, FP8_MAX=FP8_MAX, BLOCK=BLOCK, num_warps=8)
    return q, s
