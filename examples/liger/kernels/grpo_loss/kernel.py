from liger_kernel.ops import GrpoLossFunction


def grpo_loss(logits, old_logp, ref_logp, completion, advantages, mask):
    # The package asks for contiguous tensors. Temperature, beta and clip range; then not in place, not reduced.
    tensors = [tensor.contiguous() for tensor in (logits, old_logp, ref_logp, completion, advantages, mask)]
    loss, kl, _ = GrpoLossFunction.apply(*tensors, 0.9, 0.04, 0.2, 0.2, False, "grpo", None, False)
    return loss, kl
