"""w = (code - zero) * scale: a tile of rows of one group and of packed columns per program.

Columns of an int32 are taken apart in registers, where a tile of [rows, words] becomes one of [rows, words, 8], which
lies in memory as [rows, columns].
"""

import torch
import triton
import triton.language as tl


@triton.jit
def awq_dequantise_kernel(
    weight_ptr, scale_ptr, zero_ptr, w_ptr, words, group_rows, weight_stride, scale_stride, zero_stride,
    BLOCK_ROWS: tl.constexpr, BLOCK_WORDS: tl.constexpr,
):  # fmt: skip
    word_tiles = tl.cdiv(words, BLOCK_WORDS)
    first_row = (tl.program_id(0) // word_tiles).to(tl.int64) * BLOCK_ROWS  # tiles divide groups
    group = first_row // group_rows
    rows = first_row + tl.arange(0, BLOCK_ROWS)[:, None, None]
    word = (tl.program_id(0) % word_tiles * BLOCK_WORDS + tl.arange(0, BLOCK_WORDS))[None, :, None]
    column = tl.arange(0, 8)[None, None, :]
    shift = column // 2 * 4 + column % 2 * 16
    inside = word < words
    code = (tl.load(weight_ptr + rows * weight_stride + word, mask=inside, other=0) >> shift) & 0xF
    zero = (tl.load(zero_ptr + group * zero_stride + word, mask=inside, other=0) >> shift) & 0xF
    scale = tl.load(scale_ptr + group * scale_stride + word * 8 + column, mask=inside, other=0.0)
    w = (code - zero).to(tl.float32) * scale.to(tl.float32)
    tl.store(w_ptr + (rows * words + word) * 8 + column, w.to(w_ptr.dtype.element_ty), mask=inside)


def awq_dequantise(weight, scale, zero):
    (rows, words), groups = weight.shape, scale.shape[0]
    weight, scale, zero = (x if x.stride(1) == 1 else x.contiguous() for x in (weight, scale, zero))
    w = torch.empty((rows, 8 * words), dtype=scale.dtype, device=scale.device)
    block_rows, block_words = 8, 64  # groups have 32, 64 or 128 rows
    awq_dequantise_kernel[(rows // block_rows * triton.cdiv(words, block_words),)](
        weight, scale, zero, w, words, rows // groups, weight.stride(0), scale.stride(0), zero.stride(0),
        BLOCK_ROWS=block_rows, BLOCK_WORDS=block_words, num_warps=8,
    )  # fmt: skip
    return w
