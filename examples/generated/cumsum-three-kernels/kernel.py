"""Inclusive row-wise prefix sum for long rows: block totals, scan of the totals, blocks with their offset.

Three launches keep many programs busy even when there are few rows. Totals are kept in float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def block_totals(x, totals, sx, N, NB, BLOCK: tl.constexpr):
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    c = block * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * sx + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(totals + row * NB + block, tl.sum(v, axis=0))


@triton.jit
def scan_totals(totals, offsets, NB, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = 0.0
    for start in range(0, NB, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(totals + row * NB + c, mask=c < NB, other=0.0)
        tl.store(offsets + row * NB + c, tl.cumsum(v, axis=0) - v + carry, mask=c < NB)
        carry += tl.sum(v, axis=0)


@triton.jit
def scan_blocks(x, offsets, y, sx, sy, N, NB, BLOCK: tl.constexpr):
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    c = block * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * sx + c, mask=c < N, other=0.0).to(tl.float32)
    s = tl.cumsum(v, axis=0) + tl.load(offsets + row * NB + block)
    tl.store(y + row * sy + c, s.to(y.dtype.element_ty), mask=c < N)


def cumsum(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    BLOCK = min(1024, triton.next_power_of_2(N))
    blocks = triton.cdiv(N, BLOCK)
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    totals = torch.empty((M, blocks), device=x.device, dtype=torch.float32)
    offsets = torch.empty_like(totals)
    block_totals[(M, blocks)](x, totals, x.stride(0), N, blocks, BLOCK=BLOCK)
    scan_totals[(M,)](totals, offsets, blocks, BLOCK=128)
    scan_blocks[(M, blocks)](x, offsets, y, x.stride(0), y.stride(0), N, blocks, BLOCK=BLOCK)
    return y
