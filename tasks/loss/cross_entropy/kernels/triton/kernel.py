"""Per-row cross-entropy, log(sum(exp(x))) - x[target], in one pass by the online recurrence.

Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, arXiv:1805.02867.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["N", "ignore_index"])
def cross_entropy_kernel(
    logits_ptr, target_ptr, loss_ptr, ignore_index, N, V, stride, BLOCK_N: tl.constexpr, BLOCK_V: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    lanes = tl.arange(0, BLOCK_V)[None, :]
    logits_row = logits_ptr + rows * stride
    target = tl.load(target_ptr + rows, mask=rows < N, other=ignore_index)
    counted = (rows < N) & (target != ignore_index)

    largest = tl.full((BLOCK_N, 1), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_N, 1), tl.float32)
    for start in range(0, V, BLOCK_V):
        columns = start + lanes
        inside = counted & (columns < V)  # the logits of an ignored row need not be read
        x = tl.load(logits_row + columns, mask=inside, other=float("-inf")).to(tl.float32)
        seen = largest
        largest = tl.maximum(seen, tl.max(x, axis=1, keep_dims=True))
        # A row that is -inf so far has no maximum to subtract: -inf - -inf would be NaN.
        shift = tl.where(largest == float("-inf"), 0.0, largest)
        total = total * tl.exp(seen - shift) + tl.sum(tl.exp(x - shift), axis=1, keep_dims=True)

    shift = tl.where(largest == float("-inf"), 0.0, largest)
    chosen = tl.load(logits_row + target, mask=counted, other=0.0).to(tl.float32)
    # The difference of the logits is taken first: log(total) is small, and would be lost in the rounding of a large x.
    loss = tl.where(counted, tl.log(tl.where(counted, total, 1.0)) + (shift - chosen), 0.0)
    tl.store(loss_ptr + rows, loss.to(loss_ptr.dtype.element_ty), mask=rows < N)


def cross_entropy(logits, target, ignore_index):
    N, V = logits.shape
    logits = logits if logits.stride(1) == 1 else logits.contiguous()
    target = target.contiguous()
    loss = torch.empty((N,), dtype=logits.dtype, device=logits.device)
    # The tile keeps 4096 elements whatever the row length; narrow tiles walk
    # along rows that would leave a wide one mostly empty. Few distinct tiles mean few compilations.
    block_v = 4096 if V >= 1024 else 256 if V > 16 else 16
    block_n = 4096 // block_v
    grid = (triton.cdiv(N, block_n),)
    cross_entropy_kernel[grid](
        logits, target, loss, ignore_index, N, V, logits.stride(0), BLOCK_N=block_n, BLOCK_V=block_v, num_warps=8
    )
    return loss
