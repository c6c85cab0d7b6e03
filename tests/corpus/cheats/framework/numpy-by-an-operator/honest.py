"""Hands its kernel a tuple with names, a string and an enumeration as compile-time arguments, and names a constant."""

import enum
from typing import NamedTuple

import torch
import triton
import triton.language as tl
import work


class Order(enum.Enum):
    BY_MOST = 0
    AS_IS = 1


class Tile(NamedTuple):
    columns: int
    order: Order = Order.BY_MOST


LOWEST = tl.constexpr(float("-inf"))
BY_MOST = tl.constexpr(Order.BY_MOST)


@triton.jit
def kernel(x_ptr, y_ptr, N, x_stride, TILE: tl.constexpr, KIND: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, TILE.columns)
    x = tl.load(x_ptr + row * x_stride + column, mask=column < N, other=LOWEST).to(tl.float32)
    if TILE.order == BY_MOST and KIND == "rows":
        x = x - tl.max(x, axis=0)
    weights = tl.exp(x)
    y = (weights / tl.sum(weights, axis=0)).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row * N + column, y, mask=column < N)


def softmax(x):
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    tile = Tile(triton.next_power_of_2(x.shape[1]))
    kernel[(x.shape[0],)](x, work.touched(y), x.shape[1], x.stride(0), tile, "rows")
    return y
