import torch


def inputs(shape, rng):
    return {
        "grad": rng.tensor(shape["T"], shape["D"]),
        "values": rng.tensor(shape["L"], shape["T"], shape["D"]),
        "query": rng.tensor(shape["D"]),
        "weight": rng.tensor(shape["D"]),
        "eps": 1e-6,
    }


@torch.enable_grad()
def reference(grad, values, query, weight, eps):
    values, query, weight = (tensor.detach().requires_grad_() for tensor in (values, query, weight))
    keys = torch.nn.functional.rms_norm(values, values.shape[-1:], weight, eps)
    scores = torch.einsum("d,ltd->lt", query, keys)
    y = torch.einsum("lt,ltd->td", torch.softmax(scores, dim=0), values)
    return torch.autograd.grad(y, (values, query, weight), grad)
