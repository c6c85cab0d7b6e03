import torch


def inputs(shape, rng):
    tokens = shape["S"], shape["B"]
    return {
        "grad": rng.tensor(*tokens, dtype="float32"),
        "logits": rng.tensor(*tokens, shape["V"]),
        "target": rng.integers(0, shape["V"], *tokens),
    }


@torch.enable_grad()
def reference(grad, logits, target):
    logits = logits.detach().requires_grad_()
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # the loss is float32 whatever the dtype
    loss = torch.nn.functional.cross_entropy(wide.flatten(0, 1), target.flatten(), reduction="none").view_as(target)
    (dlogits,) = torch.autograd.grad(loss, logits, grad)
    return loss.detach(), dlogits
