import torch

SMALLEST = 1e-10  # a group of zeros has no scale of its own


def inputs(shape, rng):
    return {
        "x": rng.tensor(shape["M"], shape["Q"] * shape["S"]),
        "group": shape["S"],
        "q_like": rng.tensor(0, dtype="float8_e4m3"),
    }


def reference(x, group, q_like):
    # The scale is float32 by definition of the operator, so half-precision rows are measured in float32 as well.
    x = x.to(torch.promote_types(x.dtype, torch.float32)).unflatten(1, (-1, group))
    limit = torch.finfo(q_like.dtype).max
    scale = x.abs().amax(dim=-1).clamp(min=SMALLEST) / limit
    return (x / scale[..., None]).clamp(-limit, limit).flatten(1).to(q_like.dtype), scale
