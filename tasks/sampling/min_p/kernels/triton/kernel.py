"""Min-p: the largest logit, the sum over those that are kept, and their probabilities, in three passes over a row.

p >= threshold * p_max is decided as x - x_max >= log(threshold), before anything is exponentiated; what is not kept
need not be summed, so that the softmax over all tokens is never computed.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def min_p_kernel(logits_ptr, threshold_ptr, y_ptr, V, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    logits_row = logits_ptr + row * stride
    least = tl.log(tl.load(threshold_ptr + row))

    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, V, BLOCK):
        x = tl.load(logits_row + start + lanes, mask=start + lanes < V, other=float("-inf"))
        largest = tl.maximum(largest, x.to(tl.float32))
    peak = tl.max(largest)

    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, V, BLOCK):
        x = tl.load(logits_row + start + lanes, mask=start + lanes < V, other=float("-inf")).to(tl.float32) - peak
        total += tl.where(x >= least, tl.exp(x), 0.0)
    inverse = 1.0 / tl.sum(total)

    for start in range(0, V, BLOCK):
        inside = start + lanes < V
        x = tl.load(logits_row + start + lanes, mask=inside, other=float("-inf")).to(tl.float32) - peak
        y = tl.where(x >= least, tl.exp(x) * inverse, 0.0)
        tl.store(y_ptr + row * V + start + lanes, y.to(y_ptr.dtype.element_ty), mask=inside)


def min_p(logits, threshold):
    B, V = logits.shape
    logits = logits if logits.stride(1) == 1 else logits.contiguous()
    y = torch.empty((B, V), dtype=logits.dtype, device=logits.device)
    min_p_kernel[(B,)](logits, threshold, y, V, logits.stride(0), BLOCK=4096, num_warps=8)
    return y
