import torch


def inputs(shape, rng):
    return {"x": rng.tensor(shape["M"], shape["N"]), "weight": rng.tensor(shape["N"]), "eps": 1e-6}


def reference(x, weight, eps):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
