import torch


def inputs(shape, rng):
    rows = shape["M"], shape["N"]
    return {"grad": rng.tensor(*rows), "x": rng.tensor(*rows), "weight": rng.tensor(shape["N"]), "eps": 1e-6}


@torch.enable_grad()
def reference(grad, x, weight, eps):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    return torch.autograd.grad(torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps), (x, weight), grad)
