import torch

STEP = 2.0**-10


def inputs(shape, rng):
    # Whether a probability just reaches the threshold depends on how one rounds. On a grid of logits, a threshold half
    # a step off is never reached by little.
    logits = rng.tensor(shape["B"], shape["V"])
    logits.copy_((logits.double() / STEP).round() * STEP)
    threshold = rng.uniform(0.01, 0.3, shape["B"], dtype="float32")
    steps = (threshold.double().log() / STEP).floor() + 0.5
    return {"logits": logits, "threshold": threshold.copy_((steps * STEP).exp())}


def reference(logits, threshold):
    probabilities = torch.softmax(logits, dim=-1, dtype=threshold.dtype)
    kept = probabilities >= threshold[:, None] * probabilities.amax(dim=-1, keepdim=True)
    probabilities = torch.where(kept, probabilities, 0.0)
    return (probabilities / probabilities.sum(dim=-1, keepdim=True)).to(logits.dtype)
