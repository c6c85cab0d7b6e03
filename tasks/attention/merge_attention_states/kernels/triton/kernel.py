"""o = (e^a * prefix + e^b * suffix) / (e^a + e^b), lse = log(e^a + e^b), with a and b the parts' log-sum-exps.

Juravsky et al., "Hydragen: High-Throughput LLM Inference with Shared Prefixes", 2024, arXiv:2402.05099, section 3.1.
The heads of all tokens are one list of rows; a program takes a tile of it.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["rows_total"])
def merge_attention_states_kernel(
    prefix_ptr, prefix_lse_ptr, suffix_ptr, suffix_lse_ptr, o_ptr, lse_ptr, rows_total, T, H, D,
    prefix_token, prefix_head, suffix_token, suffix_head, prefix_lse_head, suffix_lse_head,
    BLOCK_ROWS: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    known = rows < rows_total
    token, head = rows // H, rows % H
    a = tl.load(prefix_lse_ptr + head * prefix_lse_head + token, mask=known, other=0.0)
    b = tl.load(suffix_lse_ptr + head * suffix_lse_head + token, mask=known, other=0.0)
    largest = tl.maximum(a, b)
    prefix_weight = tl.exp(a - largest)  # 0 where there is no prefix, since then the maximum is the suffix's
    suffix_weight = tl.exp(b - largest)
    total = prefix_weight + suffix_weight
    tl.store(lse_ptr + head * T + token, largest + tl.log(total), mask=known)

    lanes = tl.arange(0, BLOCK_D)[None, :]
    inside = known & (lanes < D)
    prefix = tl.load(prefix_ptr + token * prefix_token + head * prefix_head + lanes, mask=inside, other=0.0)
    suffix = tl.load(suffix_ptr + token * suffix_token + head * suffix_head + lanes, mask=inside, other=0.0)
    o = (prefix.to(tl.float32) * prefix_weight + suffix.to(tl.float32) * suffix_weight) / total
    tl.store(o_ptr + rows * D + lanes, o.to(o_ptr.dtype.element_ty), mask=inside)


def merge_attention_states(prefix, prefix_lse, suffix, suffix_lse):
    T, H, D = prefix.shape
    prefix, prefix_lse, suffix, suffix_lse = (
        x if x.stride(-1) == 1 else x.contiguous() for x in (prefix, prefix_lse, suffix, suffix_lse)
    )
    o = torch.empty((T, H, D), dtype=prefix.dtype, device=prefix.device)
    lse = torch.empty((H, T), dtype=torch.float32, device=prefix.device)
    block_d = triton.next_power_of_2(D)
    block_rows = max(2048 // block_d, 1)
    merge_attention_states_kernel[(triton.cdiv(T * H, block_rows),)](
        prefix, prefix_lse, suffix, suffix_lse, o, lse, T * H, T, H, D,
        *prefix.stride()[:2], *suffix.stride()[:2], prefix_lse.stride(0), suffix_lse.stride(0),
        BLOCK_ROWS=block_rows, BLOCK_D=block_d, num_warps=4,
    )  # fmt: skip
    return o, lse
