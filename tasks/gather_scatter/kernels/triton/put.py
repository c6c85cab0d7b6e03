"""Elements written to where an index says: one kernel copies, replaces rows, and replaces elements of rows.

Where the same place is named more than once and all are to count, another adds them up; no two programs write the same
row, and the order of sums is always the same.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _same(at, row, column, inside):
    return row, column


@triton.jit
def _in_row(at, row, column, inside):
    index, stride = at
    return row, tl.load(index + row * stride + column, mask=inside, other=0)


@triton.jit
def _row(at, row, column, inside):
    return tl.load(at[0] + row, mask=inside, other=0), column


@triton.jit(do_not_specialize=["M"])
def put_kernel(
    y_ptr,
    x_ptr,
    M,
    N,
    y_stride,
    y_step,
    x_stride,
    at,
    PLACE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(N, BLOCK_N)
    row_tile = tl.program_id(0) // column_tiles
    column_tile = tl.program_id(0) % column_tiles
    row = row_tile.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (row < M) & (column < N)
    x = tl.load(x_ptr + row * x_stride + column, mask=inside, other=0)
    to_row, to_column = PLACE(at, row, column, inside)
    tl.store(y_ptr + to_row * y_stride + to_column * y_step, x, mask=inside)


@triton.jit
def add_kernel(
    x_ptr, index_ptr, values_ptr, N, K, x_stride, x_step, values_stride, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr
):
    tiles = tl.cdiv(N, BLOCK_N)
    first = tl.program_id(0) // tiles
    column = tl.program_id(0) % tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    index = tl.load(index_ptr + first)
    lanes = tl.arange(0, BLOCK_K)
    # Of all rows with the same index, the program of the first one adds up all.
    earlier, start = 0, 0
    while (start < first) & (earlier == 0):
        k = start + lanes
        same = tl.load(index_ptr + k, mask=k < first, other=-1) == index
        earlier = tl.sum(same.to(tl.int32), axis=0)
        start += BLOCK_K
    if earlier == 0:
        total = tl.zeros((BLOCK_N,), tl.float32)
        for start in range(first, K, BLOCK_K):
            k = start + lanes
            same = tl.load(index_ptr + k, mask=k < K, other=-1) == index
            rows = values_ptr + k.to(tl.int64)[:, None] * values_stride
            values = tl.load(rows + column[None, :], mask=same[:, None] & (column < N)[None, :], other=0.0)
            total += tl.sum(values.to(tl.float32), axis=0)
        x = x_ptr + index * x_stride + column * x_step
        total += tl.load(x, mask=column < N, other=0.0).to(tl.float32)
        tl.store(x, total.to(x_ptr.dtype.element_ty), mask=column < N)


def _put(place, y, x, at=()):
    """Write each element of a matrix to the place in another that ``place`` says; no two may have the same."""
    M, N = x.shape
    # The tile keeps 2048 elements whatever the row length; few distinct tiles mean few compilations.
    block_n = 1024 if N > 128 else 128 if N > 8 else 8
    block_m = 2048 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    put_kernel[grid](
        y, x, M, N, *y.stride(), x.stride(0), at, PLACE=place, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4
    )


def _rows(x):
    """Return a matrix whose rows are without gaps."""
    return x if x.stride(1) == 1 else x.contiguous()


def scatter(x, index, source):
    x, index, source = _rows(x), _rows(index), _rows(source)
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    _put(_same, y, x)
    _put(_in_row, y, source, (index, index.stride(0)))
    return y


def index_put(x, index, values):
    _put(_row, x, _rows(values), (index.contiguous(),))
    return x


def index_put_impl(x, index, values):
    N, K = x.shape[1], index.shape[0]
    index, values = index.contiguous(), _rows(values)
    block_n = 128 if N > 16 else 16  # few distinct tiles mean few compilations
    grid = (K * triton.cdiv(N, block_n),)
    add_kernel[grid](x, index, values, N, K, *x.stride(), values.stride(0), BLOCK_K=32, BLOCK_N=block_n, num_warps=4)
    return x
