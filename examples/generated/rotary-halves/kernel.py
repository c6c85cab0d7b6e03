"""Rotary embedding, NeoX style: the first and the second half of each head form the rotated pairs.

One program handles one token and all heads of one tensor, so cos and sin are loaded once per token.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_kernel(
    x_ptr,
    out_ptr,
    cos_ptr,
    sin_ptr,
    stride_xt,
    stride_xh,
    stride_cos,
    stride_sin,
    H,
    HALF,
    BLOCK_H: tl.constexpr,
    BLOCK_HALF: tl.constexpr,
):
    t = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, BLOCK_HALF)
    d_mask = d < HALF
    cos = tl.load(cos_ptr + t * stride_cos + d, mask=d_mask, other=0.0).to(tl.float32)[None, :]
    sin = tl.load(sin_ptr + t * stride_sin + d, mask=d_mask, other=0.0).to(tl.float32)[None, :]
    for start in range(0, H, BLOCK_H):
        h = start + tl.arange(0, BLOCK_H)
        mask = (h[:, None] < H) & d_mask[None, :]
        src = x_ptr + t * stride_xt + h[:, None] * stride_xh + d[None, :]
        dst = out_ptr + t * H * 2 * HALF + h[:, None] * 2 * HALF + d[None, :]
        first = tl.load(src, mask=mask, other=0.0).to(tl.float32)
        second = tl.load(src + HALF, mask=mask, other=0.0).to(tl.float32)
        tl.store(dst, (first * cos - second * sin).to(out_ptr.dtype.element_ty), mask=mask)
        tl.store(dst + HALF, (second * cos + first * sin).to(out_ptr.dtype.element_ty), mask=mask)


def _rotate(x, cos, sin):
    T, H, D = x.shape
    out = torch.empty((T, H, D), device=x.device, dtype=x.dtype)
    rope_kernel[(T,)](
        x,
        out,
        cos,
        sin,
        x.stride(0),
        x.stride(1),
        cos.stride(0),
        sin.stride(0),
        H,
        D // 2,
        BLOCK_H=min(16, triton.next_power_of_2(H)),
        BLOCK_HALF=triton.next_power_of_2(D // 2),
    )
    return out


def rotary_embedding(q, k, cos, sin):
    return _rotate(q, cos, sin), _rotate(k, cos, sin)
