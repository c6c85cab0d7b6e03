"""Elements written to the places that an index names: one kernel copies, replaces rows and replaces elements of rows."""

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


@triton.jit(do_not_specialize=["M"])
def put_kernel(
    y_ptr, x_ptr, M, N, y_stride, x_stride, at, PLACE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
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
    tl.store(y_ptr + to_row * y_stride + to_column, x, mask=inside)


def _put(place, y, x, at=()):
    """Write each element of a matrix to the place in another that ``place`` says; no two may have the same."""
    M, N = x.shape
    # The tile keeps 2048 elements whatever the row length; few distinct tiles mean few compilations.
    block_n = 1024 if N > 128 else 128 if N > 8 else 8
    block_m = 2048 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    put_kernel[grid](
        y, x, M, N, y.stride(0), x.stride(0), at, PLACE=place, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4
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
