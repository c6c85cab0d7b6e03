"""Per-row int8 quantisation: one pass for the largest magnitude, one to scale and round."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def int8_quantise_rows_kernel(
    x_ptr, q_ptr, scale_ptr, smallest, M, N, x_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    lanes = tl.arange(0, BLOCK_N)[None, :]
    largest = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        x = tl.load(x_ptr + rows * x_stride + columns, mask=(rows < M) & (columns < N), other=0.0)
        largest = tl.maximum(largest, tl.abs(x.to(tl.float32)))
    scale = tl.maximum(tl.max(largest, axis=1, keep_dims=True), smallest) / 127
    tl.store(scale_ptr + rows, scale, mask=rows < M)

    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        inside = (rows < M) & (columns < N)
        x = tl.load(x_ptr + rows * x_stride + columns, mask=inside, other=0.0).to(tl.float32)
        # From 2^23 to 2^24 a float's step is one: adding 1.5 * 2^23 rounds to the nearest integer, ties to even.
        rounded = (x / scale + 12582912.0) - 12582912.0
        tl.store(q_ptr + rows * N + columns, rounded.to(tl.int8), mask=inside)


def int8_quantise_rows(x):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    q = torch.empty((M, N), dtype=torch.int8, device=x.device)
    scale = torch.empty((M,), dtype=torch.float32, device=x.device)
    # A tile has 4096 elements, whether of one long row or of many short ones.
    block_n = min(max(triton.next_power_of_2(N), 16), 4096)
    block_m = 4096 // block_n
    int8_quantise_rows_kernel[(triton.cdiv(M, block_m),)](
        x, q, scale, 1e-12, M, N, x.stride(0), BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8
    )
    return q, scale
