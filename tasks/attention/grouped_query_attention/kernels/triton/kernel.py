"""Grouped-query attention: the rows of a tile are the queries of all heads that share one head of keys and values.

Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023, arXiv:2307.08691, with
row i of a group being query i // R of its head i % R, so that each key is read once for all R of them. Scores are kept
in units of log2, because every chip has an exp2.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["S", "C"])
def grouped_query_attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, S, C, G, R,
    q_batch, q_token, q_head, k_batch, k_token, k_head, v_batch, v_token, v_head,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    tiles = tl.cdiv(S * R, BLOCK_Q)
    batch = (tl.program_id(0) // (tiles * G)).to(tl.int64)
    group = tl.program_id(0) // tiles % G
    # The last queries see the most keys: started first, they do not trail behind.
    tile = tiles - 1 - tl.program_id(0) % tiles
    rows = tile * BLOCK_Q + tl.arange(0, BLOCK_Q)[:, None]
    query = rows // R
    head = group * R + rows % R
    lanes = tl.arange(0, BLOCK_K)
    depth = tl.arange(0, D)
    inside = query < S
    q_tile = q_ptr + batch * q_batch + query.to(tl.int64) * q_token + head * q_head + depth[None, :]
    k_tile = k_ptr + batch * k_batch + group * k_head + lanes[None, :].to(tl.int64) * k_token + depth[:, None]
    v_tile = v_ptr + batch * v_batch + group * v_head + lanes[:, None].to(tl.int64) * v_token + depth[None, :]

    q = tl.load(q_tile, mask=inside, other=0.0)
    largest = tl.full((BLOCK_Q, 1), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_Q, 1), tl.float32)
    o = tl.zeros((BLOCK_Q, D), tl.float32)
    end = C + min((tile * BLOCK_Q + BLOCK_Q - 1) // R + 1, S)
    for start in range(0, end, BLOCK_K):
        keys = start + lanes
        k = tl.load(k_tile, mask=keys[None, :] < end, other=0.0)
        v = tl.load(v_tile, mask=keys[:, None] < end, other=0.0)
        scores = tl.dot(q, k) * (scale * 1.4426950408889634)  # log2(e)
        scores = tl.where(keys[None, :] <= C + query, scores, float("-inf"))
        seen = largest
        # Key 0 is in the first tile and visible to every query, so the maximum is finite from there on.
        largest = tl.maximum(seen, tl.max(scores, axis=1, keep_dims=True))
        weights = tl.exp2(scores - largest)
        shrink = tl.exp2(seen - largest)
        total = total * shrink + tl.sum(weights, axis=1, keep_dims=True)
        o = tl.dot(weights.to(v.dtype), v, o * shrink)
        k_tile += BLOCK_K * k_token
        v_tile += BLOCK_K * v_token

    o_tile = o_ptr + ((batch * S + query) * G * R + head) * D + depth[None, :]
    tl.store(o_tile, (o / total).to(o_ptr.dtype.element_ty), mask=inside)


def grouped_query_attention(q, k, v):
    (B, S, H, D), (_, keys, G, _) = q.shape, k.shape
    q, k, v = (x if x.stride(3) == 1 else x.contiguous() for x in (q, k, v))
    o = torch.empty((B, S, H, D), dtype=q.dtype, device=q.device)
    block_q, block_k = 64, 32
    grouped_query_attention_kernel[(B * G * triton.cdiv(S * (H // G), block_q),)](
        q, k, v, o, D**-0.5, S, keys - S, G, H // G, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        BLOCK_Q=block_q, BLOCK_K=block_k, D=D, num_warps=4, num_stages=3,
    )  # fmt: skip
    return o
