"""Gradients of pointwise functions: what comes from above, and the function's own input."""

import triton
import triton.language as tl
from launch import apply, like


@triton.jit
def _log_sigmoid(grad, x):
    # sigmoid(-x) by an exponential that cannot overflow.
    e = tl.exp(-tl.abs(x))
    return grad * (tl.where(x < 0.0, 1.0, e) / (1.0 + e))


@triton.jit
def _mish(grad, x):
    # With e = exp(x), tanh(log(1 + e)) = n / (n + 2), n = e (e + 2), and its derivative is 4 e (e + 1) / (n + 2)^2.
    # Both have their limits in float32 long before e overflows.
    e = tl.exp(tl.minimum(x, 20.0))
    n = e * (e + 2.0)
    slope = 4.0 * (e / (n + 2.0)) * ((e + 1.0) / (n + 2.0))
    return grad * (n / (n + 2.0) + x * slope)


@triton.jit
def _softplus(grad, x, beta, threshold):
    scaled = beta * x
    e = tl.exp(-tl.abs(scaled))
    sigmoid = tl.where(scaled < 0.0, e, 1.0) / (1.0 + e)
    return grad * tl.where(scaled > threshold, 1.0, sigmoid)


@triton.jit
def _smooth_l1(grad, x, target, beta):
    off = x - target
    return grad * tl.where(off <= -beta, -1.0, tl.where(off >= beta, 1.0, off / beta))


@triton.jit
def _rrelu(grad, x, noise):
    return tl.where(x <= 0.0, grad * noise, grad)


def log_sigmoid_backward(grad, x):
    return apply(_log_sigmoid, like(grad), (grad, x))


def mish_backward(grad, x):
    return apply(_mish, like(grad), (grad, x))


def softplus_backward(grad, x, beta, threshold):
    return apply(_softplus, like(grad), (grad, x), (beta, threshold))


def smooth_l1_loss_backward(grad, x, target, beta):
    return apply(_smooth_l1, like(grad), (grad, x, target), (beta,))


def rrelu_with_noise_backward(grad, x, noise):
    return apply(_rrelu, like(grad), (grad, x, noise))
