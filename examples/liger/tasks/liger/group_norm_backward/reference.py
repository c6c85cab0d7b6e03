import torch


def inputs(shape, rng):
    size = shape["B"], shape["C"], shape["S"]
    return {
        "grad": rng.tensor(*size),
        "x": rng.tensor(*size),
        "weight": rng.tensor(shape["C"]),
        "bias": rng.tensor(shape["C"]),
        "groups": 32,
        "eps": 1e-6,
    }


@torch.enable_grad()
def reference(grad, x, weight, bias, groups, eps):
    x, weight, bias = (tensor.detach().requires_grad_() for tensor in (x, weight, bias))
    y = torch.nn.functional.group_norm(x, groups, weight, bias, eps)
    return torch.autograd.grad(y, (x, weight, bias), grad)
