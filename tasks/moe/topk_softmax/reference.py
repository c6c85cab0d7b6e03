import torch


def inputs(shape, rng):
    # Of logits that are nearly equal, the larger depends on how one rounds, and far from the largest all probabilities
    # are zero in float32: on a grid, and within bounds, logits are equal or their probabilities clearly are not.
    logits = rng.tensor(shape["T"], shape["E"]).clamp_(-30.0, 30.0)
    logits.copy_((logits.double() * 2**16).round() / 2**16)
    return {"logits": logits, "top_k": shape["K"], "renormalise": shape["T"] % 2 == 0}


def reference(logits, top_k, renormalise):
    probabilities = torch.softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    ids = logits.sort(dim=-1, descending=True, stable=True).indices[:, :top_k]
    weights = probabilities.gather(1, ids)
    if renormalise:
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights, ids.to(torch.int32)
