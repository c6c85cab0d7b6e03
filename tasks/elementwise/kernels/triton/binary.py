"""Two tensors in, one of the same size out."""

import torch
import triton
import triton.language as tl
from launch import apply, like


@triton.jit
def _add(x, y, alpha):
    return x + alpha * y


@triton.jit
def _div(x, y):
    return tl.div_rn(x, y)  # the plain quotient may be two ulp off


@triton.jit
def _eq(x, y):
    return x == y


@triton.jit
def _floor_divide(x, y):
    # Division of integers rounds towards zero; where signs differ and something is left, the floor is one less.
    quotient = x // y
    rest = x - quotient * y
    return tl.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1, quotient)


@triton.jit
def _fmax(x, y):
    return tl.where((x >= y) | (y != y), x, y)


@triton.jit
def _gt(x, y):
    return x > y


@triton.jit
def _heaviside(x, y):
    return tl.where(x == 0.0, y, tl.where(x > 0.0, 1.0, 0.0))


@triton.jit
def _le(x, y):
    return x <= y


@triton.jit
def _logaddexp2(x, y):
    # The larger one, and what the other adds to it. Equal ones are a case of their own, as inf - inf is no number.
    larger = tl.where(x > y, x, y)
    more = tl.log2(1.0 + tl.exp2(-tl.abs(x - y)))
    return tl.where(x == y, x + 1.0, larger + more)


@triton.jit
def _mul(x, y):
    return x * y


@triton.jit
def _pow(x, y):
    # Anything to the power of zero is one, and one to the power of anything, nan and infinity among them.
    return tl.where((x == 1.0) | (y == 0.0), 1.0, tl.exp2(y * tl.log2(x)))


@triton.jit
def _prelu(x, y):
    return tl.where(x > 0.0, x, y * x)


@triton.jit
def _rrelu(x, y):
    return tl.where(x <= 0.0, y * x, x)


@triton.jit
def _sub(x, y, alpha):
    return x - alpha * y


@triton.jit
def _rsub(x, y, alpha):
    return y - alpha * x


def add_inplace(x, y, alpha):
    return apply(_add, x, (x, y), (alpha,))


def diff(x):
    later, earlier = x[:, 1:], x[:, :-1]
    return apply(_sub, like(later), (later, earlier), (1.0,))


def div(x, y):
    return apply(_div, like(x), (x, y))


def div_inplace(x, y):
    return apply(_div, x, (x, y))


def eq(x, y):
    return apply(_eq, like(x, torch.bool), (x, y))


def floor_divide(x, y):
    return apply(_floor_divide, like(x), (x, y))


def fmax(x, y):
    return apply(_fmax, like(x), (x, y))


def gt(x, y):
    return apply(_gt, like(x, torch.bool), (x, y))


def heaviside(x, y):
    return apply(_heaviside, like(x), (x, y))


def le(x, y):
    return apply(_le, like(x, torch.bool), (x, y))


def logaddexp2(x, y):
    return apply(_logaddexp2, like(x), (x, y))


def mul(x, y):
    return apply(_mul, like(x), (x, y))


def pow(x, y):
    return apply(_pow, like(x), (x, y))


def prelu(x, y):
    return apply(_prelu, like(x), (x, y))


def rrelu_with_noise(x, y):
    return apply(_rrelu, like(x), (x, y))


def rsub(x, y, alpha):
    return apply(_rsub, like(x), (x, y), (alpha,))


def sub(x, y, alpha):
    return apply(_sub, like(x), (x, y), (alpha,))
