import torch


def inputs(shape, rng):
    log_q, p = rng.tensor(shape["M"], shape["V"]), rng.tensor(shape["M"], shape["V"])
    # In place, so that the tensors stay where the sampler laid them out.
    return {"log_q": log_q.copy_(torch.log_softmax(log_q, dim=-1)), "p": p.copy_(torch.softmax(p, dim=-1))}


def reference(log_q, p):
    wide = torch.promote_types(p.dtype, torch.float32)  # the loss is float32 whatever the dtype
    return torch.nn.functional.kl_div(log_q.to(wide), p.to(wide), reduction="sum")
