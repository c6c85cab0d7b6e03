"""Rotary position embedding, NeoX style: element i and element i + D/2 of a head are rotated by the token's angle i.

Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, arXiv:2104.09864. The heads of all
tokens are one list of rows; a program takes a tile of it.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["rows_total", "heads"])
def rotate_kernel(
    x_ptr, cos_ptr, sin_ptr, y_ptr, rows_total, heads, half, x_token, x_head, cos_token, sin_token,
    BLOCK_ROWS: tl.constexpr, BLOCK_HALF: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    tokens = rows // heads
    lanes = tl.arange(0, BLOCK_HALF)[None, :]
    inside = (rows < rows_total) & (lanes < half)
    cos = tl.load(cos_ptr + tokens * cos_token + lanes, mask=inside, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + tokens * sin_token + lanes, mask=inside, other=0.0).to(tl.float32)
    x_row = x_ptr + tokens * x_token + (rows % heads) * x_head + lanes
    first = tl.load(x_row, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(x_row + half, mask=inside, other=0.0).to(tl.float32)
    y_row = y_ptr + rows * (2 * half) + lanes
    tl.store(y_row, (first * cos - second * sin).to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(y_row + half, (second * cos + first * sin).to(y_ptr.dtype.element_ty), mask=inside)


def rotate(x, cos, sin):
    T, H, D = x.shape
    x = x if x.stride(2) == 1 else x.contiguous()
    y = torch.empty((T, H, D), dtype=x.dtype, device=x.device)
    block_half = triton.next_power_of_2(D // 2)
    block_rows = max(2048 // block_half, 1)
    rotate_kernel[(triton.cdiv(T * H, block_rows),)](
        x, cos, sin, y, T * H, H, D // 2, x.stride(0), x.stride(1), cos.stride(0), sin.stride(0),
        BLOCK_ROWS=block_rows, BLOCK_HALF=block_half, num_warps=4,
    )  # fmt: skip
    return y


def rotary_embedding(q, k, cos, sin):
    cos = cos if cos.stride(1) == 1 else cos.contiguous()
    sin = sin if sin.stride(1) == 1 else sin.contiguous()
    return rotate(q, cos, sin), rotate(k, cos, sin)
