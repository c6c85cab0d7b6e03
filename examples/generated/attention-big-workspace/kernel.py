"""Causal attention in two launches with a score matrix in device memory.

The score buffer is allocated once for the largest problem (128 heads, 16384 x 16384, float32), so that
no call ever waits for the allocator.
"""

import math

import torch
import triton
import triton.language as tl

MAX_HEADS = 128
MAX_SEQ = 16384
_SCORES = None


@triton.jit
def scores_kernel(q, k, scores, S, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(2).to(tl.int64)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    x = tl.load(q + (bh * S + rm[:, None]) * D + d[None, :], mask=rm[:, None] < S, other=0.0)
    y = tl.load(k + (bh * S + rn[None, :]) * D + d[:, None], mask=rn[None, :] < S, other=0.0)
    s = tl.where(rn[None, :] <= rm[:, None], tl.dot(x, y, input_precision="ieee") * scale, -float("inf"))
    tl.store(scores + (bh * S + rm[:, None]) * S + rn[None, :], s, mask=(rm[:, None] < S) & (rn[None, :] < S))


@triton.jit
def values_kernel(scores, v, o, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(1).to(tl.int64)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    m = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, S, BN):
        rn = n + tl.arange(0, BN)
        inside = (rm[:, None] < S) & (rn[None, :] < S)
        s = tl.load(scores + (bh * S + rm[:, None]) * S + rn[None, :], mask=inside, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        a = tl.exp(m - m_new)
        total = total * a + tl.sum(p, 1)
        x = tl.load(v + (bh * S + rn[:, None]) * D + d[None, :], mask=rn[:, None] < S, other=0.0)
        acc = acc * a[:, None] + tl.dot(p.to(x.dtype), x, input_precision="ieee")
        m = m_new
    tl.store(
        o + (bh * S + rm[:, None]) * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < S
    )


def attention(q, k, v):
    global _SCORES
    B, H, S, D = q.shape
    if B * H > MAX_HEADS or S > MAX_SEQ:
        raise ValueError("problem is larger than the workspace")
    if _SCORES is None:
        _SCORES = torch.empty(MAX_HEADS * MAX_SEQ * MAX_SEQ, device=q.device, dtype=torch.float32)
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    o = torch.empty_like(q)
    blocks = triton.cdiv(S, 32)
    scores_kernel[(blocks, blocks, B * H)](q, k, _SCORES, S, 1.0 / math.sqrt(D), D=D, BM=32, BN=32, num_stages=1)
    values_kernel[(blocks, B * H)](_SCORES, v, o, S, D=D, BM=32, BN=32, num_stages=1)
    return o
