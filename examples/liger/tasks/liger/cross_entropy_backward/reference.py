import torch


def inputs(shape, rng):
    return {
        "grad": rng.tensor(),
        "logits": rng.tensor(shape["M"], shape["V"]),
        "target": rng.integers(0, shape["V"], shape["M"]),
    }


@torch.enable_grad()
def reference(grad, logits, target):
    logits = logits.detach().requires_grad_()
    return torch.autograd.grad(torch.nn.functional.cross_entropy(logits, target), logits, grad)[0]
