import torch


def inputs(shape, rng):
    return {
        "x": rng.tensor(shape["B"], shape["S"], shape["N"]),
        "weight": rng.tensor(shape["N"]),
        "scale": rng.tensor(shape["B"], shape["N"]),
        "shift": rng.tensor(shape["B"], shape["N"]),
        "eps": 1e-6,
    }


def reference(x, weight, scale, shift, eps):
    y = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    return y * (1 + scale[:, None]) + shift[:, None]
