import torch


def inputs(shape, rng):
    return {
        "grad": rng.tensor(dtype="float32"),
        "x": rng.tensor(shape["M"], shape["H"]),
        "weight": rng.tensor(shape["V"], shape["H"]),
        "target": rng.integers(0, shape["V"], shape["M"]),
    }


@torch.enable_grad()
def reference(grad, x, weight, target):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    logits = x @ weight.T
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return torch.autograd.grad(torch.nn.functional.cross_entropy(logits, target), (x, weight), grad)
