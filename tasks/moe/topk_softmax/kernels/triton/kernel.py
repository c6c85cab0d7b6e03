"""The top_k most probable experts of each token: the largest logit is taken out, again and again, in registers.

Order is decided by the logits, which are exact; the exponentials only make the weights.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def topk_softmax_kernel(
    logits_ptr, weights_ptr, ids_ptr, T, E, stride,
    RENORMALISE: tl.constexpr, K: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    experts = tl.arange(0, BLOCK_E)[None, :]
    slots = tl.arange(0, BLOCK_K)[None, :]
    x = tl.load(logits_ptr + rows * stride + experts, mask=(rows < T) & (experts < E), other=float("-inf"))
    x = tl.where(rows < T, x.to(tl.float32), 0.0)  # rows beyond the last must not divide nothing by nothing
    highest = tl.max(x, axis=1, keep_dims=True)
    total = tl.sum(tl.exp(x - highest), axis=1, keep_dims=True)

    weights = tl.zeros((BLOCK_T, BLOCK_K), tl.float32)
    ids = tl.zeros((BLOCK_T, BLOCK_K), tl.int32)
    for slot in range(K):
        largest = tl.max(x, axis=1, keep_dims=True)
        first = tl.min(tl.where(x == largest, experts, BLOCK_E), axis=1, keep_dims=True)
        weights = tl.where(slots == slot, tl.exp(largest - highest), weights)
        ids = tl.where(slots == slot, first, ids)
        x = tl.where(experts == first, float("-inf"), x)
    if RENORMALISE:
        total = tl.sum(weights, axis=1, keep_dims=True)

    inside = (rows < T) & (slots < K)
    tl.store(weights_ptr + rows * K + slots, weights / total, mask=inside)
    tl.store(ids_ptr + rows * K + slots, ids, mask=inside)


def topk_softmax(logits, top_k, renormalise):
    T, E = logits.shape
    logits = logits if logits.stride(1) == 1 else logits.contiguous()
    weights = torch.empty((T, top_k), dtype=torch.float32, device=logits.device)
    ids = torch.empty((T, top_k), dtype=torch.int32, device=logits.device)
    block_e = triton.next_power_of_2(E)
    block_t = max(1024 // block_e, 1)
    topk_softmax_kernel[(triton.cdiv(T, block_t),)](
        logits, weights, ids, T, E, logits.stride(0),
        RENORMALISE=renormalise, K=top_k, BLOCK_T=block_t, BLOCK_E=block_e, BLOCK_K=triton.next_power_of_2(top_k),
        num_warps=4,
    )  # fmt: skip
    return weights, ids
