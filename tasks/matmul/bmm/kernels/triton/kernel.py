"""c[i] = a[i] @ b[i]: one tile of one product per program, accumulated in float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def bmm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_batch, a_stride, b_batch, b_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    row_tiles = tl.cdiv(M, BLOCK_M)  # programs that follow one another share a tile of b in the cache
    rows = (tl.program_id(0) % row_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (tl.program_id(0) // row_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    product = tl.program_id(1).to(tl.int64)
    a_tile = a_ptr + product * a_batch + rows[:, None].to(tl.int64) * a_stride + depth[None, :]
    b_tile = b_ptr + product * b_batch + depth[:, None].to(tl.int64) * b_stride + columns[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        a = tl.load(a_tile, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns[None, :] < N), other=0.0)
        # "ieee" keeps float32 inputs float32: the default would round them to tf32 where the chip can.
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_tile += BLOCK_K
        b_tile += BLOCK_K * b_stride

    c_tile = c_ptr + product * M * N + rows[:, None].to(tl.int64) * N + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_tile, accumulator.to(c_ptr.dtype.element_ty), mask=inside)


def bmm(a, b):
    (B, M, K), N = a.shape, b.shape[2]
    a = a if a.stride(2) == 1 else a.contiguous()
    b = b if b.stride(2) == 1 else b.contiguous()
    c = torch.empty((B, M, N), dtype=a.dtype, device=a.device)
    # Four stages of operands take at most 64 KiB of shared memory; few rows take a flat tile.
    if a.dtype == torch.float32:
        block_m, block_n, block_k = (64 if M > 16 else 16), 64, 32
    else:
        block_m, block_n, block_k = (128 if M > 16 else 16), 128, 32
    num_warps = 4 if block_m < 128 else 8
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n), B)  # B stays below the 65535 blocks of a second axis
    bmm_kernel[grid](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, num_warps=num_warps, num_stages=4,
    )  # fmt: skip
    return c
