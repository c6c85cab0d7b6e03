"""Per-row float8 e4m3 quantisation: one pass for the largest magnitude, one to scale, round and pack.

Half of the chips have no instruction that converts to e4m3, and those that have one differ in the flavour. So the eight
bits are composed by integer arithmetic, which is right everywhere and free beside the memory traffic: both flavours
have three bits of mantissa and differ only in their smallest normal number and in what they make of -0.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def to_e4m3(x, MIN_EXPONENT: tl.constexpr, SIGNED_ZERO: tl.constexpr):
    """Return the bits of x, already within range, rounded to nearest even.

    A value m * 2^(e - 3) with m in 8..15, or in 0..7 at the smallest exponent, has the code (e - MIN_EXPONENT) * 8 + m
    below its sign; an m that rounds up to 16 carries into the exponent by itself.
    """
    bits = x.to(tl.int32, bitcast=True)
    exponent = tl.maximum(((bits >> 23) & 0xFF) - 127, MIN_EXPONENT)
    steps = tl.abs(x) * ((127 + 3 - exponent) << 23).to(tl.float32, bitcast=True)  # |x| / 2^(e - 3), exactly
    m = (steps + 8388608.0).to(tl.int32, bitcast=True) - 0x4B000000  # in [2^23, 2^24) a float's step is one
    code = (exponent - MIN_EXPONENT) * 8 + m
    negative = bits < 0
    if not SIGNED_ZERO:
        negative = negative & (code != 0)  # there, the sign bit alone means NaN
    return tl.where(negative, code | 0x80, code).to(tl.uint8)


@triton.jit(do_not_specialize=["M"])
def fp8_quantise_rows_kernel(
    x_ptr, q_ptr, scale_ptr, limit, smallest, M, N, x_stride,
    MIN_EXPONENT: tl.constexpr, SIGNED_ZERO: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    lanes = tl.arange(0, BLOCK_N)[None, :]
    x_row = x_ptr + rows * x_stride
    q_row = q_ptr + rows * N

    largest = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        x = tl.load(x_row + columns, mask=(rows < M) & (columns < N), other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.abs(x))
    scale = tl.maximum(tl.max(largest, axis=1, keep_dims=True), smallest) / limit
    tl.store(scale_ptr + rows, scale, mask=rows < M)

    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        inside = (rows < M) & (columns < N)
        x = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        scaled = tl.minimum(tl.maximum(x / scale, -limit), limit)
        tl.store(q_row + columns, to_e4m3(scaled, MIN_EXPONENT, SIGNED_ZERO), mask=inside)


def fp8_quantise_rows(x, q_like):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    q = torch.empty((M, N), dtype=q_like.dtype, device=x.device)
    scale = torch.empty((M,), dtype=torch.float32, device=x.device)
    flavour = torch.finfo(q.dtype)
    # The tile keeps 4096 elements whatever the row length; narrow tiles walk
    # along rows that would leave a wide one mostly empty. Few distinct tiles mean few compilations.
    block_n = 4096 if N >= 1024 else 256 if N > 16 else 16
    block_m = 4096 // block_n
    grid = (triton.cdiv(M, block_m),)
    fp8_quantise_rows_kernel[grid](
        x, q.view(torch.uint8), scale, flavour.max, 1e-12, M, N, x.stride(0),
        MIN_EXPONENT=int(math.log2(flavour.smallest_normal)), SIGNED_ZERO=q.dtype == torch.float8_e4m3fn,
        BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8,
    )  # fmt: skip
    return q, scale
