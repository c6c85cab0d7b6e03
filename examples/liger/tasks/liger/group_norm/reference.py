import torch


def inputs(shape, rng):
    return {
        "x": rng.tensor(shape["B"], shape["C"], shape["S"]),
        "weight": rng.tensor(shape["C"]),
        "bias": rng.tensor(shape["C"]),
        "groups": 32,
        "eps": 1e-6,
    }


def reference(x, weight, bias, groups, eps):
    return torch.nn.functional.group_norm(x, groups, weight, bias, eps)
