"""Layer normalisation: mean, then the variance about that mean, then the scaled row.

The variance is a pass of its own: E[x^2] - E[x]^2 in one pass cancels where the mean outweighs the deviation. The
later passes read what the first has just brought into the cache.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, y_ptr, eps, M, N, x_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    lanes = tl.arange(0, BLOCK_N)[None, :]
    x_row = x_ptr + rows * x_stride
    y_row = y_ptr + rows * N

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        total += tl.load(x_row + columns, mask=(rows < M) & (columns < N), other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=1, keep_dims=True) / N

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        inside = (rows < M) & (columns < N)
        x = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        deviation = tl.where(inside, x - mean, 0.0)
        total += deviation * deviation
    variance = tl.sum(total, axis=1, keep_dims=True) / N
    inverse = 1.0 / tl.sqrt(variance + eps)

    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        inside = (rows < M) & (columns < N)
        x = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        y = (x - mean) * inverse * weight + bias
        tl.store(y_row + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def layer_norm(x, weight, bias, eps):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    weight, bias = weight.contiguous(), bias.contiguous()
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    # The tile keeps 2048 elements whatever the row length; narrow tiles walk
    # along rows that would leave a wide one mostly empty. Few distinct tiles mean few compilations.
    block_n = 2048 if N >= 512 else 128 if N > 8 else 8
    block_m = 2048 // block_n
    grid = (triton.cdiv(M, block_m),)
    layer_norm_kernel[grid](x, weight, bias, y, eps, M, N, x.stride(0), BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8)
    return y
