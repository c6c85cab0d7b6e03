"""Makes a table of where rows begin, as large as its output, on the host, in each call."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(begins_ptr, x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(begins_ptr + row).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + begin + column, mask=column < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + row, tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def sum(x):
    x = x.contiguous()
    M, N = x.shape
    begins = torch.tensor([row * N for row in range(M)], dtype=torch.int32, device=x.device)
    y = torch.empty((M,), dtype=x.dtype, device=x.device)
    kernel[(M,)](begins, x, y, N, BLOCK=1024)
    return y
