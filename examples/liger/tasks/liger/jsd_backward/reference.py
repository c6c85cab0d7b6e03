import math

import torch


def inputs(shape, rng):
    log_q, log_p = rng.tensor(shape["M"], shape["V"]), rng.tensor(shape["M"], shape["V"])
    # In place, so that the tensors stay where the sampler laid them out.
    log_q.copy_(torch.log_softmax(log_q, dim=-1))
    log_p.copy_(torch.log_softmax(log_p, dim=-1))
    return {"grad": rng.tensor(), "log_q": log_q, "log_p": log_p}


def jsd(log_q, log_p):
    """Return the Jensen-Shannon divergence of two batches of log-probabilities, averaged over the rows."""
    log_m = torch.logaddexp(log_q, log_p) - math.log(2)
    divergence = log_p.exp() * (log_p - log_m) + log_q.exp() * (log_q - log_m)
    return 0.5 * divergence.sum() / log_q.shape[0]


@torch.enable_grad()
def reference(grad, log_q, log_p):
    log_q = log_q.detach().requires_grad_()
    wide = torch.promote_types(log_q.dtype, torch.float32)
    return torch.autograd.grad(jsd(log_q.to(wide), log_p.to(wide)).to(log_q.dtype), log_q, grad)[0]
