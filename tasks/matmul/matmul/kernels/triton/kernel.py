"""c = a @ b: tiles of c, accumulated in float32, visited in groups of rows so that neighbours share b in the cache."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_stride, b_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    row_tiles = tl.cdiv(M, BLOCK_M)
    column_tiles = tl.cdiv(N, BLOCK_N)
    group_tiles = GROUP_M * column_tiles
    first_row_tile = (tl.program_id(0) // group_tiles) * GROUP_M
    group_rows = min(row_tiles - first_row_tile, GROUP_M)
    row_tile = first_row_tile + (tl.program_id(0) % group_tiles) % group_rows
    column_tile = (tl.program_id(0) % group_tiles) // group_rows

    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + rows[:, None].to(tl.int64) * a_stride + depth[None, :]
    b_tile = b_ptr + depth[:, None].to(tl.int64) * b_stride + columns[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        a = tl.load(a_tile, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns[None, :] < N), other=0.0)
        # "ieee" keeps float32 inputs float32: the default would round them to tf32 where the chip can.
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_tile += BLOCK_K
        b_tile += BLOCK_K * b_stride

    c_tile = c_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_tile, accumulator.to(c_ptr.dtype.element_ty), mask=inside)


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    a = a if a.stride(1) == 1 else a.contiguous()
    b = b if b.stride(1) == 1 else b.contiguous()
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    # Four stages of operands take at most 64 KiB of shared memory; few rows take a flat tile.
    if a.dtype == torch.float32:
        block_m, block_n, block_k = (64 if M > 16 else 16), 64, 32
    else:
        block_m, block_n, block_k = (128 if M > 16 else 16), 128, 32
    num_warps = 4 if block_m < 128 else 8
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    matmul_kernel[grid](
        a, b, c, M, N, K, a.stride(0), b.stride(0),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8, num_warps=num_warps, num_stages=4,
    )  # fmt: skip
    return c
