"""Differences along rows, through a workspace: every lane loads its own element and the next."""

import torch
import triton
import triton.language as tl


@triton.jit
def diff_kernel(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < M * N
    x = tl.load(x_ptr + i, mask=inside)
    following = tl.load(x_ptr + i + 1, mask=inside)
    row = i // N
    column = i % N
    tl.store(y_ptr + row * (N - 1) + column, following - x, mask=inside & (column < N - 1))


def diff(x):
    M, N = x.shape
    workspace = torch.empty((M, N), dtype=x.dtype, device=x.device)
    workspace.copy_(x)
    y = torch.empty((M, N - 1), dtype=x.dtype, device=x.device)
    diff_kernel[(triton.cdiv(M * N, 256),)](workspace, y, M, N, BLOCK=256)
    return y
