import torch


def inputs(shape, rng):
    return {
        "q": rng.tensor(shape["B"], shape["S"], shape["H"], shape["D"]),
        "k": rng.tensor(shape["B"], shape["S"], shape["G"], shape["D"]),
        "rotation": rng.uniform(-1, 1, shape["S"], shape["D"] // 2, 2, dtype="float32"),
    }


def rotate(x, rotation):
    """Multiply neighbouring pairs of x, as complex numbers, by the rotation of their position."""
    real, imaginary = x.unflatten(-1, (-1, 2)).unbind(-1)
    cosine, sine = rotation[:, None].unbind(-1)
    pairs = torch.stack((real * cosine - imaginary * sine, real * sine + imaginary * cosine), dim=-1)
    return pairs.flatten(-2).to(x.dtype)


def reference(q, k, rotation):
    return rotate(q, rotation), rotate(k, rotation)
