"""Elements that are moved, converted or overwritten."""

import torch
import triton
import triton.language as tl
from launch import apply, like


@triton.jit
def _same(x):
    return x


@triton.jit
def _chosen(x, mask, value):
    return tl.where(mask, value, x)


def copy(x, source):
    return apply(_same, x, (source,))


def clone(x):
    return apply(_same, like(x), (x,))


def to(x):
    return apply(_same, like(x, torch.float32), (x,))


def to_copy(x):
    return apply(_same, like(x, torch.bfloat16), (x,))


def fill(x, value):
    return apply(_same, x, (), (value,))


def zero(x):
    return apply(_same, x, (), (0,))


def masked_fill(x, mask, value):
    return apply(_chosen, x, (x, mask), (value,))
