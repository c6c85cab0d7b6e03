import torch


def inputs(shape, rng):
    return {
        "grad": rng.tensor(shape["T"], shape["D"]),
        "table": rng.tensor(shape["V"], shape["D"]),  # only its size matters
        "index": rng.integers(0, shape["V"], shape["T"]),
    }


@torch.enable_grad()
def reference(grad, table, index):
    table = table.detach().requires_grad_()
    return torch.autograd.grad(torch.nn.functional.embedding(index, table), table, grad)[0]
