"""The selective scan: a program walks along a sequence with the states of a block of channels in its registers.

Gu and Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023, arXiv:2312.00752, section 3.3.2:
the states are never written but for the last, so that the scan moves no more than its inputs and outputs.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    """Return log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), the logarithm as 2 artanh(s / (2 + s)) with s = e^-|x|.

    Where s is small, log(1 + s) would lose it beside 1. The argument of the series is at most 1/3.
    """
    small = tl.exp(-tl.abs(x))
    z = small / (2.0 + small)
    square = z * z
    series = 1.0 / 11 + square * (1.0 / 13 + square * (1.0 / 15))
    series = 1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square * series))
    return tl.maximum(x, 0.0) + 2.0 * z * (1.0 + square * (1.0 / 3 + square * series))


@triton.jit(do_not_specialize=["L"])
def selective_scan_kernel(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, skip_ptr, y_ptr, state_ptr, L, D,
    u_batch, u_token, delta_batch, delta_token, a_channel, b_batch, b_token, c_batch, c_token,
    N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(D, BLOCK_D)
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    channels = tl.program_id(0) % tiles * BLOCK_D + tl.arange(0, BLOCK_D)
    lanes = tl.arange(0, N)
    inside = channels < D
    # exp(x) is computed as exp2(x * log2(e)), because every chip has an exp2.
    a = tl.load(a_ptr + channels[:, None] * a_channel + lanes[None, :], mask=inside[:, None], other=0.0)
    a *= 1.4426950408889634
    skip = tl.load(skip_ptr + channels, mask=inside, other=0.0)
    u_token_ptr = u_ptr + batch * u_batch + channels
    delta_token_ptr = delta_ptr + batch * delta_batch + channels
    b_token_ptr = b_ptr + batch * b_batch + lanes
    c_token_ptr = c_ptr + batch * c_batch + lanes
    y_token_ptr = y_ptr + batch * L * D + channels
    state = tl.zeros((BLOCK_D, N), tl.float32)
    for _ in range(L):
        u = tl.load(u_token_ptr, mask=inside, other=0.0).to(tl.float32)
        delta = tl.load(delta_token_ptr, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(b_token_ptr).to(tl.float32)
        c = tl.load(c_token_ptr).to(tl.float32)
        step = softplus(delta)
        state = tl.exp2(step[:, None] * a) * state + (step * u)[:, None] * b[None, :]
        y = tl.sum(state * c[None, :], axis=1) + skip * u
        tl.store(y_token_ptr, y.to(y_ptr.dtype.element_ty), mask=inside)
        u_token_ptr += u_token
        delta_token_ptr += delta_token
        b_token_ptr += b_token
        c_token_ptr += c_token
        y_token_ptr += D
    state_row = state_ptr + (batch * D + channels[:, None]) * N
    tl.store(state_row + lanes[None, :], state, mask=inside[:, None])


def selective_scan(u, delta, a, b, c, skip):
    (B, L, D), N = u.shape, a.shape[1]
    u, delta, a, b, c = (x if x.stride(-1) == 1 else x.contiguous() for x in (u, delta, a, b, c))
    y = torch.empty((B, L, D), dtype=u.dtype, device=u.device)
    state = torch.empty((B, D, N), dtype=torch.float32, device=u.device)
    block_d = 64  # one warp's worth of channels on every chip, so that the sum over states stays within a lane
    selective_scan_kernel[(B * triton.cdiv(D, block_d),)](
        u, delta, a, b, c, skip, y, state, L, D,
        *u.stride()[:2], *delta.stride()[:2], a.stride(0), *b.stride()[:2], *c.stride()[:2],
        N=N, BLOCK_D=block_d, num_warps=2,
    )  # fmt: skip
    return y, state
