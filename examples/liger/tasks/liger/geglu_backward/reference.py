import torch


def inputs(shape, rng):
    size = shape["T"], shape["D"]
    return {"grad": rng.tensor(*size), "gate": rng.tensor(*size), "up": rng.tensor(*size)}


@torch.enable_grad()
def reference(grad, gate, up):
    gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
    return torch.autograd.grad(torch.nn.functional.gelu(gate, approximate="tanh") * up, (gate, up), grad)
