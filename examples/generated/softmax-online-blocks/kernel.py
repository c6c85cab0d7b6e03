"""Row-wise softmax with an online (running maximum) pass and a normalising pass.

One program owns one row and walks over it in blocks, so any row length works and the
amount of shared memory does not depend on N.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_online_kernel(x_ptr, y_ptr, stride_x, stride_y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x
    y_row = y_ptr + row * stride_y

    running_max = -float("inf")
    running_sum = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
        new_max = tl.maximum(running_max, tl.max(x, axis=0))
        running_sum = running_sum * tl.exp(running_max - new_max) + tl.sum(tl.exp(x - new_max), axis=0)
        running_max = new_max

    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
        y = tl.exp(x - running_max) / running_sum
        tl.store(y_row + cols, y.to(y_ptr.dtype.element_ty), mask=cols < N)


def softmax(x: torch.Tensor) -> torch.Tensor:
    assert x.is_cuda, "softmax expects a GPU tensor"
    M, N = x.shape
    if x.stride(-1) != 1:
        x = x.contiguous()
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    BLOCK = min(triton.next_power_of_2(N), 4096)
    softmax_online_kernel[(M,)](x, y, x.stride(0), y.stride(0), N, BLOCK=BLOCK, num_warps=4 if BLOCK <= 1024 else 8)
    return y
