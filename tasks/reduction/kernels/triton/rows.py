"""Rows in, one value for each: a running value in every lane, and one step that makes a row's of the lanes'.

An operator is two device functions. The first takes a lane's running value, the columns, and an element of each tensor
(in float32); the second takes the lanes' values and the length of a row. Both get the operator's numbers as well.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def rows_kernel(
    y_ptr, operands, numbers, strides, M, N, start,
    STEP: tl.constexpr, END: tl.constexpr, RUNNING: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    lanes = tl.arange(0, BLOCK_N)[None, :]
    running = tl.full((BLOCK_M, BLOCK_N), 0, RUNNING) + start
    for first in range(0, N, BLOCK_N):
        columns = first + lanes
        inside = (rows < M) & (columns < N)
        elements = ()
        for i in tl.static_range(len(operands)):
            element = tl.load(operands[i] + rows * strides[i][0] + columns * strides[i][1], mask=inside, other=0.0)
            elements = elements + (element.to(tl.float32),)  # noqa: RUF005 - the only way that Triton compiles
        running = tl.where(inside, STEP(running, columns, *elements, *numbers), running)
    y = END(running, N, *numbers)
    tl.store(y_ptr + rows, y.to(y_ptr.dtype.element_ty), mask=rows < M)


def reduce(step, end, operands, numbers=(), start=0.0, running=tl.float32, dtype=None):
    """Return ``end`` of what ``step`` makes of every row, from ``start`` on, with the operands' dtype or another."""
    M, N = operands[0].shape
    y = torch.empty((M,), dtype=dtype or operands[0].dtype, device=operands[0].device)
    strides = tuple(operand.stride() for operand in operands)
    # The tile keeps 4096 elements whatever the row length; narrow tiles walk
    # along rows that would leave a wide one mostly empty. Few distinct tiles mean few compilations.
    block_n = 4096 if N >= 1024 else 256 if N > 16 else 16
    block_m = 4096 // block_n
    rows_kernel[(triton.cdiv(M, block_m),)](
        y, operands, numbers, strides, M, N, start,
        STEP=step, END=end, RUNNING=running, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8,
    )  # fmt: skip
    return y


@triton.jit
def _smaller(running, columns, x):
    return tl.where((x < running) | (x != x), x, running)  # nan comes through, and stays


@triton.jit
def _smallest(running, N):
    has_nan = tl.max((running != running).to(tl.int32), axis=1, keep_dims=True) > 0
    return tl.where(has_nan, float("nan"), tl.min(running, axis=1, keep_dims=True))


@triton.jit
def _later(running, columns, x):
    # A number that is larger for a larger element, and among equal ones for an earlier column: the bits of the float,
    # ordered as integers are, above those of the column, counted from the end. Adding zero makes -0 equal to +0.
    bits = (x + 0.0).to(tl.int32, bitcast=True)
    order = tl.where(x != x, 0x7FFFFFFF, tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits))
    key = (order.to(tl.int64) << 32) | (0x7FFFFFFF - columns).to(tl.int64)
    return tl.maximum(running, key)


@triton.jit
def _latest(running, N):
    return 0x7FFFFFFF - (tl.max(running, axis=1, keep_dims=True) & 0x7FFFFFFF)


@triton.jit
def _plus(running, columns, x):
    return running + x


@triton.jit
def _total(running, N):
    return tl.sum(running, axis=1, keep_dims=True)


@triton.jit
def _average(running, N):
    return tl.sum(running, axis=1, keep_dims=True) / N


@triton.jit
def _plus_power(running, columns, x, p):
    off = tl.abs(x)
    return running + tl.where(p == 1.0, off, tl.where(p == 2.0, off * off, tl.exp2(p * tl.log2(off))))


@triton.jit
def _root(running, N, p):
    total = tl.sum(running, axis=1, keep_dims=True)
    return tl.where(p == 1.0, total, tl.where(p == 2.0, tl.sqrt_rn(total), tl.exp2(tl.log2(total) / p)))


@triton.jit
def _plus_power_between(running, columns, x, y, p, eps):
    return _plus_power(running, columns, x - y + eps, p)


@triton.jit
def _root_between(running, N, p, eps):
    return _root(running, N, p)


@triton.jit(do_not_specialize=["M"])
def shorten_kernel(x_ptr, norm_ptr, y_ptr, maxnorm, M, N, x_strides, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(N, BLOCK_N)
    rows = (tl.program_id(0) // column_tiles).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = (tl.program_id(0) % column_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (rows < M) & (columns < N)
    norm = tl.load(norm_ptr + rows, mask=rows < M, other=0.0)
    factor = tl.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)  # PyTorch adds the 1e-7
    x = tl.load(x_ptr + rows * x_strides[0] + columns * x_strides[1], mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + rows * N + columns, (x * factor).to(y_ptr.dtype.element_ty), mask=inside)


def amin(x):
    return reduce(_smaller, _smallest, (x,), start=float("inf"))


def argmax(x):
    return reduce(_later, _latest, (x,), start=-(2**63), running=tl.int64, dtype=torch.int64)


def mean(x):
    return reduce(_plus, _average, (x,))


def pairwise_distance(x, y, p, eps):
    return reduce(_plus_power_between, _root_between, (x, y), (p, eps))


def renorm(x, p, maxnorm):
    M, N = x.shape
    norm = reduce(_plus_power, _root, (x,), (p,), dtype=torch.float32)
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    block_n = 1024 if N > 128 else 128 if N > 8 else 8
    block_m = 4096 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    shorten_kernel[grid](x, norm, y, maxnorm, M, N, x.stride(), BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4)
    return y


def sum(x):
    return reduce(_plus, _total, (x,))
