"""Names a number of NumPy's and calls device functions and compile-time ones from its kernel."""

import math

import numpy as np
import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(float(-np.inf))


@triton.jit
def shifted(x, most):
    return tl.exp2((x - most) * math.log2(math.e))


@triton.jit
def kernel(x_ptr, y_ptr, N, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + column, mask=column < N, other=LOWEST).to(tl.float32)
    weights = shifted(x, tl.max(x, axis=0))
    y = (weights / tl.sum(weights, axis=0)).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row * N + column, y, mask=column < N)


def softmax(x):
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
