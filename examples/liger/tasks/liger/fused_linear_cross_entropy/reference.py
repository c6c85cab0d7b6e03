import torch


def inputs(shape, rng):
    return {
        "x": rng.tensor(shape["M"], shape["H"]),
        "weight": rng.tensor(shape["V"], shape["H"]),
        "target": rng.integers(0, shape["V"], shape["M"]),
    }


def reference(x, weight, target):
    logits = x @ weight.T
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # the loss is float32 whatever the dtype
    return torch.nn.functional.cross_entropy(logits, target)
