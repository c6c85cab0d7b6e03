import torch


def inputs(shape, rng):
    log_q, p = rng.tensor(shape["M"], shape["V"]), rng.tensor(shape["M"], shape["V"])
    return {
        "grad": rng.tensor(dtype="float32"),
        # In place, so that the tensors stay where the sampler laid them out.
        "log_q": log_q.copy_(torch.log_softmax(log_q, dim=-1)),
        "p": p.copy_(torch.softmax(p, dim=-1)),
    }


@torch.enable_grad()
def reference(grad, log_q, p):
    log_q = log_q.detach().requires_grad_()
    wide = torch.promote_types(p.dtype, torch.float32)
    loss = torch.nn.functional.kl_div(log_q.to(wide), p.to(wide), reduction="sum")
    return torch.autograd.grad(loss, log_q, grad)[0]
