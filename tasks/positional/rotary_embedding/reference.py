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
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos[:, None, :], sin[:, None, :]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def reference(q, k, cos, sin):
    return rotate(q, cos, sin), rotate(k, cos, sin)
