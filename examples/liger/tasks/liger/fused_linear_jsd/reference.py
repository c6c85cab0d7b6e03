import math

import torch


def inputs(shape, rng):
    # Logits of about unit size, as models have them: with larger ones nearly all of a row is one token's, and where
    # student and teacher agree on which, the gradient is what rounding left of one minus one.
    unit = shape["H"] ** -0.5
    return {
        "grad": rng.tensor(dtype="float32"),
        "x": rng.tensor(shape["M"], shape["H"]),
        "weight": rng.tensor(shape["V"], shape["H"]).mul_(unit),
        "teacher_x": rng.tensor(shape["M"], shape["H"]),
        "teacher_weight": rng.tensor(shape["V"], shape["H"]).mul_(unit),
    }


def log_probabilities(x, weight):
    logits = x @ weight.T
    return torch.log_softmax(logits.to(torch.promote_types(logits.dtype, torch.float32)), dim=-1)


@torch.enable_grad()
def reference(grad, x, weight, teacher_x, teacher_weight):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    log_q, log_p = log_probabilities(x, weight), log_probabilities(teacher_x, teacher_weight)
    log_m = torch.logaddexp(log_q, log_p) - math.log(2)
    loss = 0.5 * (log_p.exp() * (log_p - log_m) + log_q.exp() * (log_q - log_m)).sum() / x.shape[0]
    return loss.detach(), *torch.autograd.grad(loss, (x, weight), grad)
