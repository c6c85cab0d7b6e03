"""c = (a @ b.T) * a_scale * b_scale + bias for float8 e4m3 a and b, on chips with and without float8.

Every e4m3 number of either flavour is a float16 number, so that products of float16 with sums in float32 are exact
where those of float8 are; operands travel as eight bits and are widened in registers. Chips that multiply float8
themselves could do twice as much.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def widen(code, BIAS: tl.constexpr):
    """Return the numbers behind the codes of e4m3 with that bias of the exponent; NaN has no place here.

    Four bits of exponent and three of mantissa go to the low end of float16's exponent and the high end of its
    mantissa, subnormal numbers included; what is off is the bias alone, which is 15 in float16.
    """
    bits = code.to(tl.int16)
    magnitude = ((bits & 0x7F) << 7).to(tl.float16, bitcast=True) * (1 << (15 - BIAS))
    return tl.where(bits >= 0x80, -magnitude, magnitude).to(tl.float16)


@triton.jit
def scaled_matmul_fp8_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, bias_ptr, c_ptr, M, N, K, a_stride, b_stride,
    BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    row_tile, column_tile = tl.program_id(0) // tl.cdiv(N, BLOCK_N), tl.program_id(0) % tl.cdiv(N, BLOCK_N)
    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    a_row = a_ptr + rows.to(tl.int64) * a_stride
    b_row = b_ptr + columns.to(tl.int64) * b_stride
    lanes = tl.arange(0, BLOCK_K)
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        along, down = start + lanes[None, :], start + lanes[:, None]
        a = tl.load(a_row + along, mask=(rows < M) & (along < K), other=0)
        b = tl.load(b_row + down, mask=(columns < N) & (down < K), other=0)
        sums = tl.dot(widen(a, BIAS), widen(b, BIAS), sums)

    bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    sums *= tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    sums *= tl.load(b_scale_ptr + columns, mask=columns < N, other=0.0)
    c = (sums + bias).to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + rows.to(tl.int64) * N + columns, c, mask=(rows < M) & (columns < N))


def scaled_matmul_fp8(a, b, a_scale, b_scale, bias):
    (M, K), N = a.shape, b.shape[0]
    a, b = (x if x.stride(1) == 1 else x.contiguous() for x in (a, b))
    c = torch.empty((M, N), dtype=bias.dtype, device=bias.device)
    block_m, block_n, block_k = (64 if M > 16 else 16), 128, 64
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    scaled_matmul_fp8_kernel[grid](
        a.view(torch.uint8), b.view(torch.uint8), a_scale, b_scale, bias, c, M, N, K, a.stride(0), b.stride(0),
        BIAS=7 if a.dtype == torch.float8_e4m3fn else 8, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
        num_warps=4, num_stages=2,
    )  # fmt: skip
    return c
