import torch


def inputs(shape, rng):
    size = (shape["B"], shape["V"])
    return {
        "logits": rng.tensor(*size),
        "in_prompt": rng.mask(*size, p=0.3),
        "in_output": rng.mask(*size, p=0.2),
        "penalty": rng.uniform(0.8, 1.6, shape["B"], dtype="float32"),
    }


def reference(logits, in_prompt, in_output, penalty):
    penalty = penalty[:, None]
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(in_prompt | in_output, penalised, logits).to(logits.dtype)
