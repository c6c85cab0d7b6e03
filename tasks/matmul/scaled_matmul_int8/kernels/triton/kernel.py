"""c = (a @ b.T) * a_scale * b_scale + bias for int8 a and b: tiles of c, summed in int32, scaled on their way out."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_matmul_int8_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, bias_ptr, c_ptr, M, N, K, a_stride, b_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    # Neighbouring programs take tiles of the same columns, whose weights then come out of the cache.
    row_tiles = tl.cdiv(M, BLOCK_M)
    rows = tl.program_id(0) % row_tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) // row_tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + rows[:, None].to(tl.int64) * a_stride + depth[None, :]
    b_tile = b_ptr + columns[None, :].to(tl.int64) * b_stride + depth[:, None]
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        a = tl.load(a_tile, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns[None, :] < N), other=0)
        sums = tl.dot(a, b, sums, out_dtype=tl.int32)
        a_tile += BLOCK_K
        b_tile += BLOCK_K

    a_scale = tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + columns, mask=columns < N, other=0.0)
    bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    c = sums.to(tl.float32) * a_scale[:, None] * b_scale[None, :] + bias[None, :]
    c_tile = c_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(c_tile, c.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


def scaled_matmul_int8(a, b, a_scale, b_scale, bias):
    (M, K), N = a.shape, b.shape[0]
    a, b = (x if x.stride(1) == 1 else x.contiguous() for x in (a, b))
    c = torch.empty((M, N), dtype=bias.dtype, device=bias.device)
    block_m, block_n, block_k = (128 if M > 16 else 16), 128, 64
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    scaled_matmul_int8_kernel[grid](
        a, b, a_scale, b_scale, bias, c, M, N, K, a.stride(0), b.stride(0),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, num_warps=8 if M > 16 else 4, num_stages=3,
    )  # fmt: skip
    return c
