"""Softmax along a middle dimension by the online recurrence: each program takes columns side by side, and walks down.

Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, arXiv:1805.02867.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["C"])
def softmax_middle_kernel(x_ptr, y_ptr, C, S, x_strides, BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    tiles = tl.cdiv(S, BLOCK_S)
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    columns = (tl.program_id(0) % tiles) * BLOCK_S + tl.arange(0, BLOCK_S)[None, :]
    lanes = tl.arange(0, BLOCK_C)[:, None].to(tl.int64)
    x_column = x_ptr + batch * x_strides[0] + columns * x_strides[2]
    y_column = y_ptr + batch * C * S + columns

    largest = tl.full((1, BLOCK_S), float("-inf"), tl.float32)
    total = tl.zeros((1, BLOCK_S), tl.float32)
    for first in range(0, C, BLOCK_C):
        rows = first + lanes
        inside = (rows < C) & (columns < S)
        x = tl.load(x_column + rows * x_strides[1], mask=inside, other=float("-inf")).to(tl.float32)
        seen = largest
        largest = tl.maximum(seen, tl.max(x, axis=0, keep_dims=True))
        # A column that is -inf so far has no maximum to subtract: -inf - -inf would be NaN.
        shift = tl.where(largest == float("-inf"), 0.0, largest)
        total = total * tl.exp(seen - shift) + tl.sum(tl.exp(x - shift), axis=0, keep_dims=True)

    shift = tl.where(largest == float("-inf"), 0.0, largest)
    for first in range(0, C, BLOCK_C):
        rows = first + lanes
        inside = (rows < C) & (columns < S)
        x = tl.load(x_column + rows * x_strides[1], mask=inside, other=0.0).to(tl.float32)
        y = tl.exp(x - shift) / total
        tl.store(y_column + rows * S, y.to(y_ptr.dtype.element_ty), mask=inside)


def softmax_middle(x):
    B, C, S = x.shape
    y = torch.empty((B, C, S), dtype=x.dtype, device=x.device)
    # The tile keeps 4096 elements: as wide as the columns reach, for whole lines of memory, and as tall as is left.
    block_s = 128 if S > 16 else 16
    block_c = 4096 // block_s
    grid = (B * triton.cdiv(S, block_s),)
    softmax_middle_kernel[grid](x, y, C, S, x.stride(), BLOCK_C=block_c, BLOCK_S=block_s, num_warps=8)
    return y
