import torch


def inputs(shape, rng):
    p = rng.tensor(shape["M"], shape["V"])
    return {
        "grad": rng.tensor(dtype="float32"),
        "x": rng.tensor(shape["M"], shape["H"]),
        "weight": rng.tensor(shape["V"], shape["H"]),
        "p": p.copy_(torch.softmax(p, dim=-1)),  # in place, so that it stays where the sampler laid it out
    }


@torch.enable_grad()
def reference(grad, x, weight, p):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    logits = x @ weight.T
    wide = torch.promote_types(logits.dtype, torch.float32)
    log_q = torch.log_softmax(logits.to(wide), dim=-1)
    loss = torch.nn.functional.kl_div(log_q, p.to(wide), reduction="batchmean")
    return loss.detach(), *torch.autograd.grad(loss, (x, weight), grad)
