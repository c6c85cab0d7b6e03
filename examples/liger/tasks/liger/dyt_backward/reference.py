import torch


def inputs(shape, rng):
    rows, columns = (shape["M"], shape["N"]), shape["N"]
    return {
        "grad": rng.tensor(*rows),
        "x": rng.tensor(*rows),
        "alpha": rng.tensor(1),
        "gamma": rng.tensor(columns),
        "beta": rng.tensor(columns),
    }


@torch.enable_grad()
def reference(grad, x, alpha, gamma, beta):
    x, alpha, gamma, beta = (tensor.detach().requires_grad_() for tensor in (x, alpha, gamma, beta))
    return torch.autograd.grad(torch.tanh(alpha * x) * gamma + beta, (x, alpha, gamma, beta), grad)
