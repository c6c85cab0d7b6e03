import torch
from liger_kernel.ops import GrpoLossFunction


def grpo_loss_backward(grad, logits, old_logp, ref_logp, completion, advantages, mask):
    # The package asks for contiguous tensors. Temperature, beta and clip range; then not in place, not reduced.
    rest = [tensor.contiguous() for tensor in (old_logp, ref_logp, completion, advantages, mask)]
    logits = logits.detach().contiguous().requires_grad_()
    loss, *_ = GrpoLossFunction.apply(logits, *rest, 0.9, 0.04, 0.2, 0.2, False, "grpo", None, False)
    return torch.autograd.grad(loss, logits, grad)[0]
