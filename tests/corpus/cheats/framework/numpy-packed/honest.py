"""Packs a schedule of the rows, longest way round, into a table of wide integers, as host code with few rows may."""

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(schedule_ptr, x_ptr, y_ptr, N, x_stride, y_stride, BLOCK: tl.constexpr):
    pair = tl.load(schedule_ptr + tl.program_id(0) // 2)
    row = (pair >> (32 * (tl.program_id(0) % 2).to(tl.int64))) & 0xFFFFFFFF
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + column, mask=column < N, other=float("-inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * y_stride + column, (e / tl.sum(e, axis=0)).to(y_ptr.dtype.element_ty), mask=column < N)


def softmax(x):
    x = x.contiguous()
    M, N = x.shape
    rows = np.arange(M + M % 2, dtype=np.int32)[::-1].copy()
    rows = np.where(rows < M, rows, 0).astype(np.int32)
    if M % 2:  # one row too many comes first, and is row 0, twice
        rows = np.roll(rows, -1)
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    schedule = torch.from_numpy(rows.view(np.int64)).to(x.device)
    kernel[(M,)](schedule, x, y, N, x.stride(0), y.stride(0), BLOCK=triton.next_power_of_2(N))
    return y
