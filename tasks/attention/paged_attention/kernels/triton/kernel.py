"""One query per sequence over a paged cache: parts of a sequence by themselves, then their merge.

Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023, arXiv:2309.06180.
A program takes the queries that share a head of the cache, which fill the rows of a tile, so that each key is read once
for all of them. Few long sequences would leave most of a chip idle, so that each is split into parts of PART keys,
whose results are weighted by their log-sum-exps (Dao et al., "Flash-Decoding for long-context inference", 2023). Scores
are kept in units of log2, because every chip has an exp2.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["parts"])
def part_kernel(
    q_ptr, keys_ptr, values_ptr, table_ptr, lengths_ptr, o_ptr, lse_ptr, scale, parts, G, R,
    q_sequence, q_head, keys_page, keys_slot, keys_head, values_page, values_slot, values_head, table_sequence,
    PAGE: tl.constexpr, D: tl.constexpr, PART: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    part = tl.program_id(0) % parts
    group = tl.program_id(0) // parts % G
    sequence = (tl.program_id(0) // parts // G).to(tl.int64)
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
    for start in range(part * PART, min((part + 1) * PART, length), BLOCK_K):
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

    row = (sequence * G * R + heads) * parts + part
    inside = queries < tl.where(part * PART < length, R, 0)  # parts beyond the end are never read
    total = tl.where(inside, total, 1.0)
    tl.store(o_ptr + row * D + depth[None, :], o / total, mask=inside)
    tl.store(lse_ptr + row, largest + tl.log2(total), mask=inside)


@triton.jit(do_not_specialize=["parts"])
def merge_kernel(parts_ptr, lse_ptr, lengths_ptr, o_ptr, parts, H, D: tl.constexpr, PART: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths_ptr + row // H)
    depth = tl.arange(0, D)
    largest = tl.load(lse_ptr + row * parts)
    total = 1.0
    o = tl.load(parts_ptr + row * parts * D + depth)
    for part in range(1, tl.cdiv(length, PART)):
        lse = tl.load(lse_ptr + row * parts + part)
        seen = largest
        largest = tl.maximum(seen, lse)
        shrink, weight = tl.exp2(seen - largest), tl.exp2(lse - largest)
        total = total * shrink + weight
        o = o * shrink + weight * tl.load(parts_ptr + (row * parts + part) * D + depth)
    tl.store(o_ptr + row * D + depth, (o / total).to(o_ptr.dtype.element_ty))


def paged_attention(q, keys, values, table, lengths):
    (S, H, D), (_, page, G, _) = q.shape, keys.shape
    q, keys, values, table = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, keys, values, table))
    part = 512
    parts = triton.cdiv(table.shape[1] * page, part)
    partial = torch.empty((S, H, parts, D), dtype=torch.float32, device=q.device)
    lse = torch.empty((S, H, parts), dtype=torch.float32, device=q.device)
    o = torch.empty((S, H, D), dtype=q.dtype, device=q.device)
    part_kernel[(S * G * parts,)](
        q, keys, values, table, lengths, partial, lse, D**-0.5, parts, G, H // G,
        *q.stride()[:2], *keys.stride()[:3], *values.stride()[:3], table.stride(0),
        PAGE=page, D=D, PART=part, BLOCK_R=16, BLOCK_K=64, num_warps=4, num_stages=2,
    )  # fmt: skip
    merge_kernel[(S * H,)](partial, lse, lengths, o, parts, H, D=D, PART=part, num_warps=1)
    return o
