"""Causal attention without the score matrix: a tile of queries walks over the keys that it may see.

Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023, arXiv:2307.08691. Scores
are kept in units of log2, because every chip has an exp2.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["H", "S"])
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, H, S,
    q_batch, q_head, q_stride, k_batch, k_head, k_stride, v_batch, v_head, v_stride,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    batch = (tl.program_id(1) // H).to(tl.int64)
    head = (tl.program_id(1) % H).to(tl.int64)
    # The last queries see the most keys: started first, they do not trail behind.
    query_tile = tl.num_programs(0) - 1 - tl.program_id(0)
    queries = query_tile * BLOCK_Q + tl.arange(0, BLOCK_Q)[:, None]
    lanes = tl.arange(0, BLOCK_K)
    depth = tl.arange(0, D)
    q_tile = q_ptr + batch * q_batch + head * q_head + queries.to(tl.int64) * q_stride + depth[None, :]
    k_tile = k_ptr + batch * k_batch + head * k_head + lanes[None, :].to(tl.int64) * k_stride + depth[:, None]
    v_tile = v_ptr + batch * v_batch + head * v_head + lanes[:, None].to(tl.int64) * v_stride + depth[None, :]

    q = tl.load(q_tile, mask=queries < S, other=0.0)
    largest = tl.full((BLOCK_Q, 1), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_Q, 1), tl.float32)
    o = tl.zeros((BLOCK_Q, D), tl.float32)
    end = min((query_tile + 1) * BLOCK_Q, S)
    for start in range(0, end, BLOCK_K):
        keys = start + lanes
        k = tl.load(k_tile, mask=keys[None, :] < S, other=0.0)
        v = tl.load(v_tile, mask=keys[:, None] < S, other=0.0)
        # "ieee" keeps float32 inputs float32: the default would round them to tf32 where the chip can.
        scores = tl.dot(q, k, input_precision="ieee") * (scale * 1.4426950408889634)  # log2(e)
        scores = tl.where(keys[None, :] <= queries, scores, float("-inf"))
        seen = largest
        # Key 0 is in the first tile and visible to every query, so the maximum is finite from there on.
        largest = tl.maximum(seen, tl.max(scores, axis=1, keep_dims=True))
        weights = tl.exp2(scores - largest)
        shrink = tl.exp2(seen - largest)
        total = total * shrink + tl.sum(weights, axis=1, keep_dims=True)
        o = tl.dot(weights.to(v.dtype), v, o * shrink, input_precision="ieee")
        k_tile += BLOCK_K * k_stride
        v_tile += BLOCK_K * v_stride

    o_tile = o_ptr + (tl.program_id(1).to(tl.int64) * S + queries) * D + depth[None, :]
    tl.store(o_tile, (o / total).to(o_ptr.dtype.element_ty), mask=queries < S)


def attention(q, k, v):
    B, H, S, D = q.shape
    q, k, v = (x if x.stride(3) == 1 else x.contiguous() for x in (q, k, v))
    o = torch.empty((B, H, S, D), dtype=q.dtype, device=q.device)
    block_q, block_k = 64, 32
    grid = (triton.cdiv(S, block_q), B * H)  # B * H stays below the 65535 blocks of a second axis
    attention_kernel[grid](
        q, k, v, o, D**-0.5, H, S, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        BLOCK_Q=block_q, BLOCK_K=block_k, D=D, num_warps=4, num_stages=3,
    )  # fmt: skip
    return o
