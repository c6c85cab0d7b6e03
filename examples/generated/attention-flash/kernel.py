"""Causal attention, forward: online softmax over key blocks, blocks above the diagonal are never visited."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def flash_fwd(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    stride_qb,
    stride_qh,
    stride_qs,
    stride_kb,
    stride_kh,
    stride_ks,
    stride_vb,
    stride_vh,
    stride_vs,
    H,
    S,
    scale_log2e,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0) * BLOCK_M
    bh = tl.program_id(1).to(tl.int64)
    b = bh // H
    h = bh % H
    q_base = q_ptr + b * stride_qb + h * stride_qh
    k_base = k_ptr + b * stride_kb + h * stride_kh
    v_base = v_ptr + b * stride_vb + h * stride_vh

    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q = tl.load(q_base + offs_m[:, None] * stride_qs + offs_d[None, :], mask=offs_m[:, None] < S, other=0.0)

    m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    for start_n in range(0, tl.minimum(start_m + BLOCK_M, S), BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(k_base + offs_n[None, :] * stride_ks + offs_d[:, None], mask=offs_n[None, :] < S, other=0.0)
        v = tl.load(v_base + offs_n[:, None] * stride_vs + offs_d[None, :], mask=offs_n[:, None] < S, other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale_log2e
        visible = (offs_n[None, :] <= offs_m[:, None]) & (offs_n[None, :] < S)
        scores = tl.where(visible, scores, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(scores, axis=1))
        p = tl.exp2(scores - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_new
    acc = acc / l_i[:, None]
    out = o_ptr + (bh * S + offs_m[:, None]) * D + offs_d[None, :]
    tl.store(out, acc.to(o_ptr.dtype.element_ty), mask=offs_m[:, None] < S)


def attention(q, k, v):
    B, H, S, D = q.shape
    o = torch.empty((B, H, S, D), device=q.device, dtype=q.dtype)
    BLOCK = 64 if q.element_size() == 2 else 32
    flash_fwd[(triton.cdiv(S, BLOCK), B * H)](
        q,
        k,
        v,
        o,
        q.stride(0),
        q.stride(1),
        q.stride(2),
        k.stride(0),
        k.stride(1),
        k.stride(2),
        v.stride(0),
        v.stride(1),
        v.stride(2),
        H,
        S,
        1.4426950408889634 / math.sqrt(D),
        D=D,
        BLOCK_M=BLOCK,
        BLOCK_N=BLOCK,
        num_warps=4,
        num_stages=1,
    )
    return o
