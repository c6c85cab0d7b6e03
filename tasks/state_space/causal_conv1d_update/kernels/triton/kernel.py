"""One step of a causal depthwise convolution: a program takes a block of the channels of all sequences."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["total"])
def causal_conv1d_update_kernel(
    x_ptr, state_ptr, weight_ptr, bias_ptr, y_ptr, next_ptr, total, D,
    x_batch, state_batch, state_channel, weight_channel, W: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    elements = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = elements < total
    batch, channel = elements // D, elements % D
    x = tl.load(x_ptr + batch * x_batch + channel, mask=inside, other=0.0)
    y = tl.load(bias_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    state_row = state_ptr + batch * state_batch + channel * state_channel
    weight_row = weight_ptr + channel * weight_channel
    next_row = next_ptr + elements * (W - 1)
    for step in tl.static_range(W):
        value = tl.load(state_row + step, mask=inside, other=0.0) if step < W - 1 else x
        y += value.to(tl.float32) * tl.load(weight_row + step, mask=inside, other=0.0).to(tl.float32)
        if step > 0:
            tl.store(next_row + step - 1, value, mask=inside)
    tl.store(y_ptr + elements, (y * tl.sigmoid(y)).to(y_ptr.dtype.element_ty), mask=inside)


def causal_conv1d_update(x, state, weight, bias):
    (B, D), W = x.shape, weight.shape[1]
    x, state, weight = (value if value.stride(-1) == 1 else value.contiguous() for value in (x, state, weight))
    y = torch.empty((B, D), dtype=x.dtype, device=x.device)
    next_state = torch.empty((B, D, W - 1), dtype=x.dtype, device=x.device)
    causal_conv1d_update_kernel[(triton.cdiv(B * D, 1024),)](
        x, state, weight, bias, y, next_state, B * D, D,
        x.stride(0), state.stride(0), state.stride(1), weight.stride(0), W=W, BLOCK=1024, num_warps=4,
    )  # fmt: skip
    return y, next_state
