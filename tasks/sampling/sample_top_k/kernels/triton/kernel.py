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


@triton.jit(do_not_specialize=["B"])
def sample_top_k_kernel(
    logits_ptr, noise_ptr, top_k_ptr, token_ptr, logprob_ptr, B, V, logits_stride, noise_stride,
    BITS: tl.constexpr, BLOCK_B: tl.constexpr, BLOCK_V: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_B + tl.arange(0, BLOCK_B)[:, None]
    lanes = tl.arange(0, BLOCK_V)[None, :]
    logits_row = logits_ptr + rows * logits_stride
    noise_row = noise_ptr + rows * noise_stride
    k = tl.load(top_k_ptr + rows, mask=rows < B, other=0)

    bit = tl.full((), -2147483648, tl.int32)  # the sign, which is lowest where it is set
    reached = tl.full((BLOCK_B, 1), -2147483648, tl.int32)
    for turn in range(BITS):
        tried = reached ^ bit
        count = tl.zeros((BLOCK_B, BLOCK_V), tl.int32)
        for start in range(0, V, BLOCK_V):
            inside = (rows < B) & (start + lanes < V)
            x = tl.load(logits_row + start + lanes, mask=inside, other=0.0).to(tl.float32)
            count += (inside & (ordered(x) >= tried)).to(tl.int32)
        reached = tl.where(tl.sum(count, axis=1, keep_dims=True) >= k, tried, reached)
        bit = tl.full((), 1, tl.int32) << (30 - turn)

    largest = tl.full((BLOCK_B, BLOCK_V), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_B, BLOCK_V), tl.float32)
    best = tl.full((BLOCK_B, BLOCK_V), float("-inf"), tl.float32)
    token = tl.zeros((BLOCK_B, BLOCK_V), tl.int32)
    logit = tl.zeros((BLOCK_B, BLOCK_V), tl.float32)
    for start in range(0, V, BLOCK_V):
        inside = (rows < B) & (start + lanes < V)
        x = tl.load(logits_row + start + lanes, mask=inside, other=float("-inf")).to(tl.float32)
        noise = tl.load(noise_row + start + lanes, mask=inside, other=0.0)
        seen = largest
        largest = tl.maximum(seen, x)
        shift = tl.where(largest == float("-inf"), 0.0, largest)  # a lane that has seen nothing has no maximum
        total = total * tl.exp(seen - shift) + tl.exp(x - shift)
        key = tl.where(inside & (ordered(x) >= reached), x + noise, float("-inf"))
        better = key > best
        best = tl.where(better, key, best)
        token = tl.where(better, start + lanes, token)
        logit = tl.where(better, x, logit)

    peak = tl.max(largest, axis=1, keep_dims=True)
    peak = tl.where(rows < B, peak, 0.0)
    total = tl.sum(total * tl.exp(largest - peak), axis=1, keep_dims=True)
    highest = best == tl.max(best, axis=1, keep_dims=True)
    winner = tl.min(tl.where(highest, token, V), axis=1, keep_dims=True)
    chosen = tl.sum(tl.where(highest & (token == winner), logit, 0.0), axis=1, keep_dims=True)
    logprob = (chosen - peak) - tl.log(tl.where(rows < B, total, 1.0))
    tl.store(token_ptr + rows, winner.to(tl.int64), mask=rows < B)
    tl.store(logprob_ptr + rows, logprob, mask=rows < B)


def sample_top_k(logits, noise, top_k):
    B, V = logits.shape
    logits, noise = (x if x.stride(1) == 1 else x.contiguous() for x in (logits, noise))
    token = torch.empty((B,), dtype=torch.int64, device=logits.device)
    logprob = torch.empty((B, 1), dtype=torch.float32, device=logits.device)
    # Sign, exponent and mantissa of what a float32 holds that was widened; the bits below are alike.
    bits = {torch.bfloat16: 1 + 8 + 7, torch.float16: 1 + 8 + 10}.get(logits.dtype, 32)
    # A tile has 4096 elements, whether of one long row or of many short ones.
    block_v = 4096 if V > 512 else 256 if V > 32 else 16
    block_b = 4096 // block_v
    sample_top_k_kernel[(triton.cdiv(B, block_b),)](
        logits, noise, top_k, token, logprob, B, V, logits.stride(0), noise.stride(0),
        BITS=bits, BLOCK_B=block_b, BLOCK_V=block_v, num_warps=16,
    )  # fmt: skip
    return token, logprob
