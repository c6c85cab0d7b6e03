import torch


def inputs(shape, rng):
    p, q = rng.tensor(shape["M"], shape["V"]), rng.tensor(shape["M"], shape["V"])
    # In place, so that the tensors stay where the sampler laid them out.
    p.copy_(torch.softmax(p, dim=-1))
    q.copy_(torch.softmax(q, dim=-1))
    return {"grad": rng.tensor(dtype="float32"), "p": p, "q": q}


def tvd(p, q):
    """Return the total variation distance, averaged over the rows; float32 at least, as sums of many terms are."""
    distance = (p - q).abs()
    return 0.5 * distance.to(torch.promote_types(distance.dtype, torch.float32)).sum() / p.shape[0]


@torch.enable_grad()
def reference(grad, p, q):
    p = p.detach().requires_grad_()
    return torch.autograd.grad(tvd(p, q), p, grad)[0]
