"""Allocates more than the output needs, stores past the output's end, and stays within what it allocated."""

import torch
import triton
import triton.language as tl
import work


@triton.jit
def pad_kernel(z_ptr, elements, BLOCK: tl.constexpr):
    tl.store(z_ptr + elements + tl.arange(0, BLOCK), tl.zeros((BLOCK,), z_ptr.dtype.element_ty))


def add(x, y, alpha):
    elements = x.numel()
    padded = torch.empty(elements + 64, dtype=x.dtype, device=x.device)
    pad_kernel[(1,)](padded, elements, BLOCK=64)
    return work.add(x, y, alpha, out=padded[:elements].view(x.shape))
