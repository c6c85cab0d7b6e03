"""Stable sort along rows: short runs are sorted by counting, then merged in pairs until each row is one.

Either way the place of an element is the number of those that come before it, so that no element waits for another.
Elements travel as 64-bit keys: above, the value as an integer of the same order; below, the column that it came from.
So no two keys of a row are equal, whatever way sorts them is stable, and the indices need no sorting of their own.
"""

import torch
import triton
import triton.language as tl

RUN = 128
"""Elements that are sorted by counting; as many squared are compared at a time."""
TOP = tl.constexpr(2**31 - 1)


@triton.jit
def _keys(x, column, DESCENDING: tl.constexpr):
    x = x.to(tl.float32)
    bits = tl.where(x == 0.0, 0.0, x).to(tl.int32, bitcast=True)  # zeros of either sign are equal
    # Magnitudes of negative numbers grow the other way; nan is larger than all.
    order = tl.where(x != x, TOP, bits ^ ((bits >> 31) & TOP))
    if DESCENDING:
        order = ~order
    return (order.to(tl.int64) << 32) | column


@triton.jit
def _write(key, place, row, x_ptr, x_stride, keys_ptr, values_ptr, indices_ptr, inside, LAST: tl.constexpr):
    """Write keys for the next pass, or what they stand for."""
    if LAST:
        column = key & TOP
        tl.store(values_ptr + place, tl.load(x_ptr + row * x_stride + column, mask=inside), mask=inside)
        tl.store(indices_ptr + place, column, mask=inside)
    else:
        tl.store(keys_ptr + place, key, mask=inside)


@triton.jit
def sort_kernel(
    x_ptr, keys_ptr, values_ptr, indices_ptr, N, x_stride,
    DESCENDING: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    runs = tl.cdiv(N, BLOCK)
    row = (tl.program_id(0) // runs).to(tl.int64)
    start = tl.program_id(0) % runs * BLOCK
    column = start + tl.arange(0, BLOCK)[:, None]
    other = start + tl.arange(0, BLOCK)[None, :]
    x_row = x_ptr + row * x_stride
    key = _keys(tl.load(x_row + column, mask=column < N, other=0.0), column, DESCENDING)
    rival = _keys(tl.load(x_row + other, mask=other < N, other=0.0), other, DESCENDING)
    before = tl.sum(((rival < key) & (other < N)).to(tl.int32), axis=1, keep_dims=True)
    place = row * N + start + before
    _write(key, place, row, x_ptr, x_stride, keys_ptr, values_ptr, indices_ptr, column < N, LAST)


@triton.jit(do_not_specialize=["length"])
def merge_kernel(
    x_ptr, keys_ptr, merged_ptr, values_ptr, indices_ptr, N, x_stride, length, LAST: tl.constexpr, BLOCK: tl.constexpr
):
    tiles = tl.cdiv(N, BLOCK)
    row = (tl.program_id(0) // tiles).to(tl.int64)
    column = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    inside = column < N
    keys = keys_ptr + row * N
    key = tl.load(keys + column, mask=inside, other=0)
    run = column // length
    other = (run ^ 1) * length
    others = tl.minimum(tl.maximum(N - other, 0), length)
    # How many keys of the other run come first, found bit by bit: runs are as long as a power of two, but for the last.
    before = tl.zeros((BLOCK,), tl.int32)
    step = length
    while step > 0:
        probe = before + step
        within = inside & (probe <= others)
        smaller = tl.load(keys + other + probe - 1, mask=within, other=0) < key
        before = tl.where(within & smaller, probe, before)
        step = step // 2
    place = row * N + run // 2 * 2 * length + column % length + before
    _write(key, place, row, x_ptr, x_stride, merged_ptr, values_ptr, indices_ptr, inside, LAST)


def sort(x, descending):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    values = torch.empty((M, N), dtype=x.dtype, device=x.device)
    indices = torch.empty((M, N), dtype=torch.int64, device=x.device)
    in_one = N <= RUN
    keys, merged = (torch.empty(0 if in_one else M * N, dtype=torch.int64, device=x.device) for _ in range(2))
    block = RUN if N > 16 else 16  # few distinct tiles mean few compilations
    sort_kernel[(M * triton.cdiv(N, block),)](
        x, keys, values, indices, N, x.stride(0), DESCENDING=descending, LAST=in_one, BLOCK=block, num_warps=4
    )
    length = RUN
    while length < N:
        last = 2 * length >= N
        merge_kernel[(M * triton.cdiv(N, 1024),)](
            x, keys, merged, values, indices, N, x.stride(0), length, LAST=last, BLOCK=1024, num_warps=4
        )
        keys, merged, length = merged, keys, 2 * length
    return values, indices
