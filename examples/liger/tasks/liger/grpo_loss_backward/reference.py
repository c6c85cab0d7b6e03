import math

import torch


def inputs(shape, rng):
    tokens = shape["B"], shape["L"]
    return {
        "grad": rng.tensor(*tokens, dtype="float32"),
        "logits": rng.tensor(shape["B"], shape["L"] + 1, shape["V"]),
        # Around -ln V, where the log-probability of a random token lies, so that the ratios stay moderate.
        "old_logp": rng.uniform(-math.log(shape["V"]) - 1, -math.log(shape["V"]), *tokens, dtype="float32"),
        "ref_logp": rng.uniform(-math.log(shape["V"]) - 1, -math.log(shape["V"]), *tokens, dtype="float32"),
        "completion": rng.integers(0, shape["V"], *tokens),
        "advantages": rng.tensor(shape["B"], dtype="float32"),
        "mask": rng.integers(0, 2, *tokens),
    }


def grpo_loss(logits, old_logp, ref_logp, completion, advantages, mask):
    """Return clipped policy loss and divergence per token (Shao et al. 2024, arXiv:2402.03300, equations 3 and 4)."""
    logits = logits[:, :-1].to(torch.promote_types(logits.dtype, torch.float32)) / 0.9
    logp = torch.log_softmax(logits, dim=-1).gather(-1, completion[..., None])[..., 0]
    ratio, advantage = (logp - old_logp).exp(), advantages[:, None]
    policy = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    divergence = (ref_logp - logp).exp() - (ref_logp - logp) - 1
    return (policy + 0.04 * divergence) * mask, divergence * mask


@torch.enable_grad()
def reference(grad, logits, old_logp, ref_logp, completion, advantages, mask):
    logits = logits.detach().requires_grad_()
    loss, _ = grpo_loss(logits, old_logp, ref_logp, completion, advantages, mask)
    return torch.autograd.grad(loss, logits, grad)[0]
