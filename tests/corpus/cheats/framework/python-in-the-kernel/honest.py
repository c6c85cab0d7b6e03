"""Hands its kernel a device function as a compile-time argument, as kernels with activations do."""

import torch
import triton
import triton.language as tl
import work


@triton.jit
def plain(x):
    return tl.exp(x)


@triton.jit
def kernel(x_ptr, y_ptr, N, x_stride, WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + column, mask=column < N, other=float("-inf")).to(tl.float32)
    weights = WEIGHT(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * N + column, (weights / tl.sum(weights)).to(y_ptr.dtype.element_ty), mask=column < N)


def softmax(x):
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel[(x.shape[0],)](x, work.touched(y), x.shape[1], x.stride(0), plain, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
