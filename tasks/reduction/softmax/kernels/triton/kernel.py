"""Row-wise softmax by the online recurrence: one pass for maximum and sum, one to write.

Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, arXiv:1805.02867. The second pass reads
what the first has just brought into the cache, so that rows of any length take one trip to memory each way.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def softmax_kernel(x_ptr, y_ptr, M, N, x_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    lanes = tl.arange(0, BLOCK_N)[None, :]
    x_row = x_ptr + rows * x_stride
    y_row = y_ptr + rows * N

    largest = tl.full((BLOCK_M, 1), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M, 1), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        inside = (rows < M) & (columns < N)
        x = tl.load(x_row + columns, mask=inside, other=float("-inf")).to(tl.float32)
        seen = largest
        largest = tl.maximum(seen, tl.max(x, axis=1, keep_dims=True))
        # A row that is -inf so far has no maximum to subtract: -inf - -inf would be NaN.
        shift = tl.where(largest == float("-inf"), 0.0, largest)
        total = total * tl.exp(seen - shift) + tl.sum(tl.exp(x - shift), axis=1, keep_dims=True)

    shift = tl.where(largest == float("-inf"), 0.0, largest)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        inside = (rows < M) & (columns < N)
        x = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        y = tl.exp(x - shift) / total
        tl.store(y_row + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def softmax(x):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    # The tile keeps 4096 elements whatever the row length; narrow tiles walk
    # along rows that would leave a wide one mostly empty. Few distinct tiles mean few compilations.
    block_n = 4096 if N >= 1024 else 256 if N > 16 else 16
    block_m = 4096 // block_n
    grid = (triton.cdiv(M, block_m),)
    softmax_kernel[grid](x, y, M, N, x.stride(0), BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8)
    return y
