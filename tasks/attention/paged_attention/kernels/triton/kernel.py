"""One query per sequence over a paged cache: a program takes the queries that share a head of the cache.

Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023, arXiv:2309.06180.
Each key is read once for all its queries, which fill the rows of a tile. Scores are kept in units of log2, because
every chip has an exp2.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def paged_attention_kernel(
    q_ptr, keys_ptr, values_ptr, table_ptr, lengths_ptr, o_ptr, scale, G, R,
    q_sequence, q_head, keys_page, keys_slot, keys_head, values_page, values_slot, values_head, table_sequence,
    PAGE: tl.constexpr, D: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    sequence = (tl.program_id(0) // G).to(tl.int64)
    group = tl.program_id(0) % G
    length = tl.load(lengths_ptr + sequence)
    queries = tl.arange(0, BLOCK_R)[:, None]
    lanes = tl.arange(0, BLOCK_K)
    depth = tl.arange(0, D)
    heads = group * R + queries
    q_tile = q_ptr + sequence * q_sequence + heads * q_head + depth[None, :]
    q = tl.load(q_tile, mask=queries < R, other=0.0)

    largest = tl.full((BLOCK_R, 1), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_R, 1), tl.float32)
    o = tl.zeros((BLOCK_R, D), tl.float32)
    for start in range(0, length, BLOCK_K):
        key = start + lanes
        known = key < length
        page = tl.load(table_ptr + sequence * table_sequence + key // PAGE, mask=known, other=0).to(tl.int64)
        slot = key % PAGE
        k_row = keys_ptr + page * keys_page + slot * keys_slot + group * keys_head
        v_row = values_ptr + page * values_page + slot * values_slot + group * values_head
        k = tl.load(k_row[None, :] + depth[:, None], mask=known[None, :], other=0.0)
        v = tl.load(v_row[:, None] + depth[None, :], mask=known[:, None], other=0.0)
        scores = tl.dot(q, k) * (scale * 1.4426950408889634)  # log2(e)
        scores = tl.where(known[None, :], scores, float("-inf"))
        seen = largest
        largest = tl.maximum(seen, tl.max(scores, axis=1, keep_dims=True))
        weights = tl.exp2(scores - largest)
        shrink = tl.exp2(seen - largest)
        total = total * shrink + tl.sum(weights, axis=1, keep_dims=True)
        o = tl.dot(weights.to(v.dtype), v, o * shrink)

    o_tile = o_ptr + (sequence * G * R + heads) * D + depth[None, :]
    tl.store(o_tile, (o / total).to(o_ptr.dtype.element_ty), mask=queries < R)


def paged_attention(q, keys, values, table, lengths):
    (S, H, D), (_, page, G, _) = q.shape, keys.shape
    q, keys, values, table = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, keys, values, table))
    o = torch.empty((S, H, D), dtype=q.dtype, device=q.device)
    paged_attention_kernel[(S * G,)](
        q, keys, values, table, lengths, o, D**-0.5, G, H // G,
        *q.stride()[:2], *keys.stride()[:3], *values.stride()[:3], table.stride(0),
        PAGE=page, D=D, BLOCK_R=16, BLOCK_K=64, num_warps=4, num_stages=2,
    )  # fmt: skip
    return o
