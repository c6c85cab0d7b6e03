"""Draws by inversion: what a law takes a uniform number to, a function for each, and one kernel for all.

Numbers follow from the seed and an element's place (Philox), whatever the tile that it lies in.
"""

import torch
import triton
import triton.language as tl

MOST = tl.constexpr(64)
"""Events; of a mean of 20, the largest there is, more come in one case of 10**14."""


@triton.jit
def _bernoulli(u, p):
    return (u < p).to(tl.float32)


@triton.jit
def _exponential(u, rate):
    return -tl.log(1.0 - u) / rate  # u may be zero, and is never one


@triton.jit
def _poisson(u, rate):
    probability = tl.exp(-rate)
    up_to = probability
    count = tl.zeros(u.shape, tl.float32)
    for k in range(1, MOST):
        count += (u >= up_to).to(tl.float32)
        probability *= rate / k
        up_to += probability
    return count


@triton.jit(do_not_specialize=["M", "seed"])
def draw_kernel(
    y_ptr, parameter, M, N, seed, y_stride, y_step, parameter_stride,
    LAW: tl.constexpr, EACH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(N, BLOCK_N)
    row = tl.program_id(0) // column_tiles * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = tl.program_id(0) % column_tiles * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (row < M) & (column < N)
    u = tl.rand(seed, row * N + column)
    row = row.to(tl.int64)
    if EACH:
        parameter = tl.load(parameter + row * parameter_stride + column, mask=inside, other=0.0).to(tl.float32)
    y = LAW(u, parameter)
    tl.store(y_ptr + row * y_stride + column * y_step, y.to(y_ptr.dtype.element_ty), mask=inside)


def _drawn(law, y, parameter, seed):
    M, N = y.shape
    each = isinstance(parameter, torch.Tensor)
    # The tile keeps 1024 elements whatever the row length; few distinct tiles mean few compilations.
    block_n = 512 if N > 128 else 128 if N > 8 else 8
    block_m = 1024 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    draw_kernel[grid](
        y, parameter, M, N, seed, *y.stride(), parameter.stride(0) if each else 0,
        LAW=law, EACH=each, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4,
    )  # fmt: skip
    return y


def _from(law, parameter, seed):
    parameter = parameter if parameter.stride(1) == 1 else parameter.contiguous()
    return _drawn(law, torch.empty(parameter.shape, dtype=parameter.dtype, device=parameter.device), parameter, seed)


def bernoulli(p, seed):
    return _from(_bernoulli, p, seed)


def exponential(x, rate, seed):
    return _drawn(_exponential, x, rate, seed)


def poisson(rate, seed):
    return _from(_poisson, rate, seed)
