"""Rotary position embedding, GPT-J style: elements 2i and 2i + 1 of a head are rotated by the token's angle i.

Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, arXiv:2104.09864. A program takes a
tile of tokens of one head. Rows are read and written as they lie in memory, and taken apart into pairs in registers:
reading every other element would fetch each cache line twice.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def rotate_pairs_kernel(
    x_ptr, cos_ptr, sin_ptr, y_ptr, T, heads, half, x_token, x_head, cos_token, sin_token,
    BLOCK_T: tl.constexpr, BLOCK_HALF: tl.constexpr,
):  # fmt: skip
    head = (tl.program_id(0) % heads).to(tl.int64)
    tokens = (tl.program_id(0) // heads).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    pairs = tl.arange(0, BLOCK_HALF)[None, :]
    known = (tokens < T) & (pairs < half)
    cos = tl.load(cos_ptr + tokens * cos_token + pairs, mask=known, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + tokens * sin_token + pairs, mask=known, other=0.0).to(tl.float32)

    lanes = tl.arange(0, 2 * BLOCK_HALF)[None, :]
    inside = (tokens < T) & (lanes < 2 * half)
    x = tl.load(x_ptr + tokens * x_token + head * x_head + lanes, mask=inside, other=0.0).to(tl.float32)
    even, odd = tl.split(tl.reshape(x, (BLOCK_T, BLOCK_HALF, 2)))
    y = tl.interleave(even * cos - odd * sin, odd * cos + even * sin)
    tl.store(y_ptr + (tokens * heads + head) * (2 * half) + lanes, y.to(y_ptr.dtype.element_ty), mask=inside)


def rotate(x, cos, sin):
    T, H, D = x.shape
    x = x if x.stride(2) == 1 else x.contiguous()
    y = torch.empty((T, H, D), dtype=x.dtype, device=x.device)
    block_half = triton.next_power_of_2(D // 2)
    block_t = max(1024 // block_half, 1)
    rotate_pairs_kernel[(triton.cdiv(T, block_t) * H,)](
        x, cos, sin, y, T, H, D // 2, x.stride(0), x.stride(1), cos.stride(0), sin.stride(0),
        BLOCK_T=block_t, BLOCK_HALF=block_half, num_warps=4,
    )  # fmt: skip
    return y


def rotary_embedding_gptj(q, k, cos, sin):
    cos = cos if cos.stride(1) == 1 else cos.contiguous()
    sin = sin if sin.stride(1) == 1 else sin.contiguous()
    return rotate(q, cos, sin), rotate(k, cos, sin)
