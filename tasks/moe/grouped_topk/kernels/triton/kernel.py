"""Routing within the best groups: a token per program, its experts a tile of groups by members.

A group is among the best if fewer than top_groups others beat it, which all groups find out at once; the experts are
then taken out one after the other, the largest first.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_topk_kernel(
    scores_ptr, bias_ptr, weights_ptr, ids_ptr, scaling, G, P, scores_token, scores_group, bias_group,
    TOP_GROUPS: tl.constexpr, K: tl.constexpr, BLOCK_G: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    groups = tl.arange(0, BLOCK_G)[:, None]
    members = tl.arange(0, BLOCK_P)[None, :]
    inside = (groups < G) & (members < P)
    scores_row = scores_ptr + token * scores_token
    score = tl.load(scores_row + groups * scores_group + members, mask=inside, other=0.0).to(tl.float32)
    biased = score + tl.load(bias_ptr + groups * bias_group + members, mask=inside, other=0.0)
    biased = tl.where(inside, biased, float("-inf"))

    first = tl.max(biased, axis=1, keep_dims=True)
    place = tl.min(tl.where(biased == first, members, BLOCK_P), axis=1, keep_dims=True)
    second = tl.max(tl.where(members == place, float("-inf"), biased), axis=1, keep_dims=True)
    strength = first + second
    others = tl.trans(strength)
    other_groups = tl.arange(0, BLOCK_G)[None, :]
    beaten = (others > strength) | ((others == strength) & (other_groups < groups))
    rank = tl.sum(beaten.to(tl.int32), axis=1, keep_dims=True)
    biased = tl.where(rank < TOP_GROUPS, biased, float("-inf"))

    expert = groups * P + members
    slots = tl.arange(0, BLOCK_K)
    weights = tl.zeros((BLOCK_K,), tl.float32)
    ids = tl.zeros((BLOCK_K,), tl.int32)
    for slot in range(K):
        largest = tl.max(biased)
        found = tl.min(tl.where((biased == largest) & inside, expert, BLOCK_G * BLOCK_P))
        weights = tl.where(slots == slot, tl.sum(tl.where((expert == found) & inside, score, 0.0)), weights)
        ids = tl.where(slots == slot, found, ids)
        biased = tl.where(expert == found, float("-inf"), biased)

    tl.store(weights_ptr + token * K + slots, weights / tl.sum(weights) * scaling, mask=slots < K)
    tl.store(ids_ptr + token * K + slots, ids, mask=slots < K)


def grouped_topk(scores, bias, top_groups, top_k, scaling):
    T, G, P = scores.shape
    scores = scores if scores.stride(2) == 1 else scores.contiguous()
    bias = bias if bias.stride(1) == 1 else bias.contiguous()
    weights = torch.empty((T, top_k), dtype=torch.float32, device=scores.device)
    ids = torch.empty((T, top_k), dtype=torch.int32, device=scores.device)
    grouped_topk_kernel[(T,)](
        scores, bias, weights, ids, scaling, G, P, scores.stride(0), scores.stride(1), bias.stride(0),
        TOP_GROUPS=top_groups, K=top_k, BLOCK_G=triton.next_power_of_2(G), BLOCK_P=triton.next_power_of_2(P),
        BLOCK_K=triton.next_power_of_2(top_k), num_warps=1,
    )  # fmt: skip
    return weights, ids
