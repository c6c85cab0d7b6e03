"""Pairs ordered by expert: a program per expert counts its pairs, and then a program per expert places them.

Each program walks over all pairs, which stay in the cache; a running sum within the walk keeps their order, with
neither atomics nor a scratch of every expert's count in every block.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["pairs"])
def count_kernel(ids_ptr, counts_ptr, pairs, K, stride, BLOCK: tl.constexpr):
    expert = tl.program_id(0)
    found = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK)
        ids = tl.load(ids_ptr + (pair // K).to(tl.int64) * stride + pair % K, mask=pair < pairs, other=-1)
        found += (ids == expert).to(tl.int32)
    tl.store(counts_ptr + expert, tl.sum(found))


@triton.jit(do_not_specialize=["pairs", "room", "blocks"])
def place_kernel(
    ids_ptr, counts_ptr, sorted_ptr, owners_ptr, padded_ptr, pairs, room, blocks, K, E, stride,
    PAD: tl.constexpr, BLOCK: tl.constexpr, BLOCK_E: tl.constexpr,
):  # fmt: skip
    expert = tl.program_id(0)  # one more than there are: it fills what is left
    lanes = tl.arange(0, BLOCK)
    experts = tl.arange(0, BLOCK_E)
    counts = tl.load(counts_ptr + experts, mask=experts < E, other=0)
    padded = (counts + PAD - 1) // PAD * PAD
    begin = tl.sum(tl.where(experts < expert, padded, 0))
    end = begin + tl.sum(tl.where(experts == expert, padded, 0))
    filled = begin
    if expert < E:
        for start in range(0, pairs, BLOCK):
            pair = start + lanes
            ids = tl.load(ids_ptr + (pair // K).to(tl.int64) * stride + pair % K, mask=pair < pairs, other=-1)
            mine = (ids == expert).to(tl.int32)
            tl.store(sorted_ptr + filled + tl.cumsum(mine, axis=0) - 1, pair, mask=mine != 0)
            filled += tl.sum(mine)
    else:
        tl.store(padded_ptr, begin)
        end = room
    for start in range(filled, end, BLOCK):
        tl.store(sorted_ptr + start + lanes, tl.full((BLOCK,), 0, tl.int32) + pairs, mask=start + lanes < end)
    owner = tl.where(expert < E, expert, -1)
    last = tl.where(expert < E, end // PAD, blocks)
    for start in range(begin // PAD, last, BLOCK):
        tl.store(owners_ptr + start + lanes, tl.full((BLOCK,), 0, tl.int32) + owner, mask=start + lanes < last)


def moe_align_block_size(ids, experts, block):
    T, K = ids.shape
    ids = ids if ids.stride(1) == 1 else ids.contiguous()
    room = T * K + experts * (block - 1)
    blocks = triton.cdiv(room, block)
    counts, sorted_ids, owners, padded = (
        torch.empty((size,), dtype=torch.int32, device=ids.device) for size in (experts, room, blocks, 1)
    )
    count_kernel[(experts,)](ids, counts, T * K, K, ids.stride(0), BLOCK=1024, num_warps=4)
    place_kernel[(experts + 1,)](
        ids, counts, sorted_ids, owners, padded, T * K, room, blocks, K, experts, ids.stride(0),
        PAD=block, BLOCK=1024, BLOCK_E=triton.next_power_of_2(experts), num_warps=4,
    )  # fmt: skip
    return sorted_ids, owners, padded
