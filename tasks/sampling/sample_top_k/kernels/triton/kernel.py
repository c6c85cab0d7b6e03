"""Top-k sampling without sorting: a row's k-th largest logit is found bit by bit, then one pass draws the token.

As integers in the order of their values, logits need as many countings as they have bits to find the largest number
that at least k of them reach. Rows fit the cache, from where the countings read them. The last pass keeps, for each
lane, the best key with its token, and the sum of the softmax by the online recurrence (Milakov and Gimelshein 2018,
arXiv:1805.02867).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def ordered(x):
    """Return integers in the order of the numbers x; +0 and -0 are one number."""
    bits = tl.where(x == 0.0, 0.0, x).to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def sample_top_k_kernel(
    logits_ptr, noise_ptr, top_k_ptr, token_ptr, logprob_ptr, V, logits_stride, noise_stride,
    BITS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    logits_row = logits_ptr + row * logits_stride
    k = tl.load(top_k_ptr + row)

    bit = tl.full((), -2147483648, tl.int32)  # the sign, which is lowest where it is set
    reached = tl.full((), -2147483648, tl.int32)
    for turn in range(BITS):
        tried = reached ^ bit
        count = tl.zeros((BLOCK,), tl.int32)
        for start in range(0, V, BLOCK):
            inside = start + lanes < V
            x = tl.load(logits_row + start + lanes, mask=inside, other=0.0).to(tl.float32)
            count += (inside & (ordered(x) >= tried)).to(tl.int32)
        reached = tl.where(tl.sum(count) >= k, tried, reached)
        bit = tl.full((), 1, tl.int32) << (30 - turn)

    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    token = tl.full((BLOCK,), 0, tl.int32)
    logit = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, V, BLOCK):
        inside = start + lanes < V
        x = tl.load(logits_row + start + lanes, mask=inside, other=float("-inf")).to(tl.float32)
        noise = tl.load(noise_ptr + row * noise_stride + start + lanes, mask=inside, other=0.0)
        seen = largest
        largest = tl.maximum(seen, x)
        shift = tl.where(largest == float("-inf"), 0.0, largest)  # a lane that has seen nothing has no maximum
        total = total * tl.exp(seen - shift) + tl.exp(x - shift)
        key = tl.where(inside & (ordered(x) >= reached), x + noise, float("-inf"))
        better = key > best
        best = tl.where(better, key, best)
        token = tl.where(better, start + lanes, token)
        logit = tl.where(better, x, logit)

    peak = tl.max(largest)
    total = tl.sum(total * tl.exp(largest - peak))
    winner = tl.min(tl.where(best == tl.max(best), token, V))
    chosen = tl.sum(tl.where((token == winner) & (best == tl.max(best)), logit, 0.0))
    tl.store(token_ptr + row, winner.to(tl.int64))
    tl.store(logprob_ptr + row, (chosen - peak) - tl.log(total))


def sample_top_k(logits, noise, top_k):
    B, V = logits.shape
    logits, noise = (x if x.stride(1) == 1 else x.contiguous() for x in (logits, noise))
    # Sign, exponent and mantissa of what a float32 holds that was widened; the bits below are alike.
    bits = {torch.bfloat16: 1 + 8 + 7, torch.float16: 1 + 8 + 10}.get(logits.dtype, 32)
    token = torch.empty((B,), dtype=torch.int64, device=logits.device)
    logprob = torch.empty((B, 1), dtype=torch.float32, device=logits.device)
    sample_top_k_kernel[(B,)](
        logits, noise, top_k, token, logprob, V, logits.stride(0), noise.stride(0),
        BITS=bits, BLOCK=4096, num_warps=16,
    )  # fmt: skip
    return token, logprob
