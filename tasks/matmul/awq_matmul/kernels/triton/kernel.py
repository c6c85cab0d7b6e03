"""y = x @ ((code - zero) * scale): steps between code and zero are multiplied, and their sums scaled, group by group.

Steps are small integers, exact in half precision, and a group's scale is taken out of its sums: weights are never
rounded to half precision, and there are BLOCK_K times fewer of them to scale.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def steps_of(packed, BLOCK: tl.constexpr):
    """Return the codes of [rows, words] as [rows, BLOCK], the columns of each word in their order."""
    column = tl.arange(0, 8)[None, None, :]
    code = (packed[:, :, None] >> (column // 2 * 4 + column % 2 * 16)) & 0xF
    return tl.reshape(code, (packed.shape[0], BLOCK))


@triton.jit
def awq_matmul_kernel(
    x_ptr, weight_ptr, scale_ptr, zero_ptr, y_ptr, M, words, K, group_rows,
    x_stride, weight_stride, scale_stride, zero_stride,
    BLOCK_M: tl.constexpr, BLOCK_WORDS: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    BLOCK_N: tl.constexpr = 8 * BLOCK_WORDS
    word_tiles = tl.cdiv(words, BLOCK_WORDS)
    rows = tl.program_id(0) // word_tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    word_tile = tl.program_id(0) % word_tiles
    word = word_tile * BLOCK_WORDS + tl.arange(0, BLOCK_WORDS)
    columns = word_tile * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    x_tile = x_ptr + rows[:, None].to(tl.int64) * x_stride + depth[None, :]
    weight_tile = weight_ptr + depth[:, None].to(tl.int64) * weight_stride + word[None, :]
    y = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):  # K is a multiple of BLOCK_K, and so are the rows of a group
        group = (start // group_rows).to(tl.int64)
        x = tl.load(x_tile, mask=rows[:, None] < M, other=0.0)
        packed = tl.load(weight_tile, mask=word[None, :] < words, other=0)
        zero = tl.load(zero_ptr + group * zero_stride + word[None, :], mask=word[None, :] < words, other=0)
        scale = tl.load(scale_ptr + group * scale_stride + columns, mask=columns < 8 * words, other=0.0)
        steps = steps_of(packed, BLOCK_N) - steps_of(zero, BLOCK_N)
        y += tl.dot(x, steps.to(x.dtype)) * scale.to(tl.float32)[None, :]
        x_tile += BLOCK_K
        weight_tile += BLOCK_K * weight_stride

    y_tile = y_ptr + rows[:, None].to(tl.int64) * (8 * words) + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < 8 * words)
    tl.store(y_tile, y.to(y_ptr.dtype.element_ty), mask=inside)


def awq_matmul(x, weight, scale, zero):
    (M, K), words = x.shape, weight.shape[1]
    x, weight, scale, zero = (
        value if value.stride(1) == 1 else value.contiguous() for value in (x, weight, scale, zero)
    )
    y = torch.empty((M, 8 * words), dtype=x.dtype, device=x.device)
    block_m, block_words, block_k = (64 if M > 16 else 16), 16, 32
    grid = (triton.cdiv(M, block_m) * triton.cdiv(words, block_words),)
    awq_matmul_kernel[grid](
        x, weight, scale, zero, y, M, words, K, K // scale.shape[0],
        x.stride(0), weight.stride(0), scale.stride(0), zero.stride(0),
        BLOCK_M=block_m, BLOCK_WORDS=block_words, BLOCK_K=block_k, num_warps=4, num_stages=2,
    )  # fmt: skip
    return y
