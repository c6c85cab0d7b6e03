import math

import torch


def inputs(shape, rng):
    half = shape["D"] // 2
    # One angle fills both, in place, so that cos and sin are those of a rotation.
    cos = rng.uniform(-math.pi, math.pi, shape["T"], half)
    sin = rng.uniform(-math.pi, math.pi, shape["T"], half).copy_(cos).sin_()
    return {
        "q": rng.tensor(shape["T"], shape["H"], shape["D"]),
        "k": rng.tensor(shape["T"], shape["G"], shape["D"]),
        "cos": cos.cos_(),
        "sin": sin,
    }


def rotate(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = cos[:, None, :], sin[:, None, :]
    return torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1).flatten(-2)


def reference(q, k, cos, sin):
    return rotate(q, cos, sin), rotate(k, cos, sin)
