"""Losses of every element against its target."""

import triton
import triton.language as tl
from launch import apply, like


@triton.jit
def _log1p_exp(x):
    # log(1 + exp(x)) without overflow. The rounding of w = 1 + e is made good by the factor e / (w - 1): Higham,
    # Accuracy and Stability of Numerical Algorithms, section 1.14.1.
    e = tl.exp(-tl.abs(x))
    w = 1.0 + e
    return tl.where(x > 0.0, x, 0.0) + tl.where(w == 1.0, e, tl.log(w) * (e / (w - 1.0)))


@triton.jit
def _huber(x, y, delta):
    off = tl.abs(x - y)
    return tl.where(off < delta, 0.5 * off * off, delta * (off - 0.5 * delta))


@triton.jit
def _soft_margin(x, y):
    return _log1p_exp(-x * y)


@triton.jit
def _margin_ranking(x, y, target, margin):
    loss = margin - target * (x - y)
    return tl.where(loss < 0.0, 0.0, loss)


@triton.jit
def _binary_cross_entropy(x, y, pos_weight):
    return (1.0 - y) * x + (1.0 + (pos_weight - 1.0) * y) * _log1p_exp(-x)


def huber_loss(x, y, delta):
    return apply(_huber, like(x), (x, y), (delta,))


def soft_margin_loss(x, y):
    return apply(_soft_margin, like(x), (x, y))


def margin_ranking_loss(x, y, target, margin):
    return apply(_margin_ranking, like(x), (x, y, target), (margin,))


def binary_cross_entropy_with_logits(x, y, pos_weight):
    return apply(_binary_cross_entropy, like(x), (x, y, pos_weight))
