import torch

STEP = 2.0**-12


def on_grid(x):
    # Which of two sums that are nearly equal is larger depends on how one rounds. Sums over a grid are exact.
    return x.copy_((x.double() / STEP).round() * STEP)


def inputs(shape, rng):
    experts = shape["G"], shape["P"]
    return {
        "scores": on_grid(rng.tensor(shape["T"], *experts).sigmoid_()).clamp_(min=STEP),
        "bias": on_grid(rng.uniform(-0.25, 0.25, *experts, dtype="float32")),
        "top_groups": shape["M"],
        "top_k": shape["K"],
        "scaling": 2.5,
    }


def largest(x, count):
    return x.sort(dim=-1, descending=True, stable=True).indices[:, :count]


def reference(scores, bias, top_groups, top_k, scaling):
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    biased = scores + bias
    groups = largest(biased.topk(2, dim=-1).values.sum(dim=-1), top_groups)
    chosen = torch.zeros_like(biased[..., 0], dtype=torch.bool).scatter(1, groups, True)
    ids = largest(biased.masked_fill(~chosen[..., None], -torch.inf).flatten(1), top_k)
    weights = scores.flatten(1).gather(1, ids)
    return weights / weights.sum(dim=-1, keepdim=True) * scaling, ids.to(torch.int32)
