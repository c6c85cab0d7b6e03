"""Says in the kernel which lines to keep and which to give up first, as the language foresees."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, N, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    place = x_ptr + row * x_stride + column
    x = tl.load(place, mask=column < N, other=float("-inf"), eviction_policy="evict_last").to(tl.float32)
    y = tl.exp(x - tl.max(x, axis=0))
    y = (y / tl.sum(y, axis=0)).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row * N + column, y, mask=column < N, eviction_policy="evict_first")


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block, num_warps=16)
    return y
