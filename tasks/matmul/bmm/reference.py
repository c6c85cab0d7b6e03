import torch


def inputs(shape, rng):
    return {
        "a": rng.tensor(shape["B"], shape["M"], shape["K"]),
        "b": rng.tensor(shape["B"], shape["K"], shape["N"]),
    }


def reference(a, b):
    return torch.bmm(a, b)
