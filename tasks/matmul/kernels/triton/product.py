"""c = a @ b + bias for factors that lie in memory by rows or by columns: tiles of c, accumulated in float32.

Tiles are visited in groups of rows, so that neighbours share b in the cache.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, a_strides, b_strides,
    HAS_BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    row_tiles = tl.cdiv(M, BLOCK_M)
    column_tiles = tl.cdiv(N, BLOCK_N)
    group_tiles = GROUP_M * column_tiles
    first_row_tile = (tl.program_id(0) // group_tiles) * GROUP_M
    group_rows = min(row_tiles - first_row_tile, GROUP_M)
    row_tile = first_row_tile + (tl.program_id(0) % group_tiles) % group_rows
    column_tile = (tl.program_id(0) % group_tiles) // group_rows

    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    across, down = tl.arange(0, BLOCK_K)[None, :], tl.arange(0, BLOCK_K)[:, None]
    a_tile = a_ptr + rows.to(tl.int64) * a_strides[0] + across.to(tl.int64) * a_strides[1]
    b_tile = b_ptr + down.to(tl.int64) * b_strides[0] + columns.to(tl.int64) * b_strides[1]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        a = tl.load(a_tile, mask=(rows < M) & (across < left), other=0.0)
        b = tl.load(b_tile, mask=(down < left) & (columns < N), other=0.0)
        # "ieee" keeps float32 inputs float32: the default would round them to tf32 where the chip can.
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_tile += BLOCK_K * a_strides[1]
        b_tile += BLOCK_K * b_strides[0]
    if HAS_BIAS:
        accumulator += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    c_tile = c_ptr + rows.to(tl.int64) * N + columns
    tl.store(c_tile, accumulator.to(c_ptr.dtype.element_ty), mask=(rows < M) & (columns < N))


def _product(a, b, bias=None):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    # Four stages of operands take at most 64 KiB of shared memory; few rows take a flat tile.
    if a.dtype == torch.float32:
        block_m, block_n, block_k = (64 if M > 16 else 16), 64, 32
    else:
        block_m, block_n, block_k = (128 if M > 16 else 16), 128, 32
    num_warps = 4 if block_m < 128 else 8
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    product_kernel[grid](
        a, b, c if bias is None else bias, c, M, N, K, a.stride(), b.stride(), HAS_BIAS=bias is not None,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8, num_warps=num_warps, num_stages=4,
    )  # fmt: skip
    return c


def linear(x, weight, bias):
    return _product(x, weight.t(), bias)


def mm(a, b):
    return _product(a, b)
