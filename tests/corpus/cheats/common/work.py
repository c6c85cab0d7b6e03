"""Honest work that cheats and twins share, laid beside each of them, so that their own files show only what differs."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, alpha, elements, N, x_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < elements
    x = tl.load(x_ptr + (i // N).to(tl.int64) * x_stride + i % N, mask=inside).to(tl.float32)
    y = tl.load(y_ptr + i % N, mask=inside).to(tl.float32)
    tl.store(z_ptr + i, (x + alpha * y).to(z_ptr.dtype.element_ty), mask=inside)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, N, x_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    most, total = float("-inf"), 0.0
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * x_stride + start + column, mask=start + column < N, other=float("-inf")).to(
            tl.float32
        )
        before, most = most, tl.maximum(most, tl.max(x, axis=0))
        total = total * tl.exp(before - most) + tl.sum(tl.exp(x - most), axis=0)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * x_stride + start + column, mask=start + column < N).to(tl.float32)
        y = tl.exp(x - most) / total
        tl.store(y_ptr + row * N + start + column, y.to(y_ptr.dtype.element_ty), mask=start + column < N)


@triton.jit
def nothing_kernel(y_ptr):
    """Is launched, and does nothing."""
    tl.store(y_ptr, 0.0, mask=tl.program_id(0) > 0)


@triton.jit
def copy_kernel(x_ptr, y_ptr, elements, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < elements), mask=i < elements)


def add(x, y, alpha, out=None):
    """Return ``x + alpha * y``: the task ``add``."""
    x = x if x.stride(1) == 1 else x.contiguous()
    z = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    grid = ((z.numel() + 1023) // 1024,)
    add_kernel[grid](x, y.contiguous(), z, alpha, z.numel(), x.shape[1], x.stride(0), BLOCK=1024)
    return z


def softmax(x, out=None):
    """Return the softmax of each row: the task ``softmax``."""
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block_of(x.shape[1]))
    return y


def block_of(columns):
    """Return how many columns of a row ``softmax_kernel`` should take at a time."""
    return min(triton.next_power_of_2(columns), 4096)


def copied(tensor, out=None):
    """Return a copy, made by a launch: what comes out of it looks like a kernel's work."""
    tensor = tensor.contiguous()
    out = torch.empty_like(tensor) if out is None else out
    copy_kernel[((out.numel() + 1023) // 1024,)](tensor, out, out.numel(), BLOCK=1024)
    return out


def touched(tensor):
    """Hand a tensor to a launch that does nothing, and return it."""
    nothing_kernel[(1,)](tensor)
    return tensor
