"""Logits of repeated tokens, divided by the sequence's penalty where positive and multiplied by it elsewhere."""

import torch
import triton
import triton.language as tl


@triton.jit
def repetition_penalties_kernel(
    logits_ptr, in_prompt_ptr, in_output_ptr, penalty_ptr, y_ptr, V, logits_stride, in_prompt_stride, in_output_stride,
    BLOCK: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(V, BLOCK)
    row = (tl.program_id(0) // tiles).to(tl.int64)
    columns = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    inside = columns < V
    x = tl.load(logits_ptr + row * logits_stride + columns, mask=inside, other=0.0).to(tl.float32)
    in_prompt = tl.load(in_prompt_ptr + row * in_prompt_stride + columns, mask=inside, other=0)
    in_output = tl.load(in_output_ptr + row * in_output_stride + columns, mask=inside, other=0)
    penalty = tl.load(penalty_ptr + row)
    penalised = tl.where(x > 0, x / penalty, x * penalty)
    y = tl.where((in_prompt != 0) | (in_output != 0), penalised, x)
    tl.store(y_ptr + row * V + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def repetition_penalties(logits, in_prompt, in_output, penalty):
    B, V = logits.shape
    logits, in_prompt, in_output = (x if x.stride(1) == 1 else x.contiguous() for x in (logits, in_prompt, in_output))
    y = torch.empty((B, V), dtype=logits.dtype, device=logits.device)
    repetition_penalties_kernel[(B * triton.cdiv(V, 2048),)](
        logits, in_prompt, in_output, penalty, y, V, logits.stride(0), in_prompt.stride(0), in_output.stride(0),
        BLOCK=2048, num_warps=8,
    )  # fmt: skip
    return y
