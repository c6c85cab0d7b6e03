import torch


def inputs(shape, rng):
    return {"grad": rng.tensor(shape["M"], shape["N"]), "x": rng.tensor(shape["M"], shape["N"])}


def sparsemax(x):
    """Return the Euclidean projection of each row onto the simplex (Martins and Astudillo 2016, algorithm 1)."""
    z = x.to(torch.promote_types(x.dtype, torch.float32))  # the prefix sums need more than the dtype's mantissa
    ordered = z.sort(dim=-1, descending=True).values
    excess = ordered.cumsum(dim=-1) - 1
    rank = torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
    support = (rank * ordered > excess).sum(dim=-1, keepdim=True)
    threshold = excess.gather(-1, support - 1) / support
    return (z - threshold).clamp(min=0).to(x.dtype)


def reference(grad, x):
    # On the support the Jacobian takes the mean off; elsewhere it is zero (ibid., equation 11).
    support = sparsemax(x) > 0
    mean = torch.where(support, grad, 0).sum(dim=-1, keepdim=True) / support.sum(dim=-1, keepdim=True)
    return torch.where(support, grad - mean, 0)
