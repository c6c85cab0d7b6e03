import torch
import torch.nn.functional as F


def inputs(shape, rng):
    B, D, W = shape["B"], shape["D"], shape["W"]
    return {
        "x": rng.tensor(B, D),
        "state": rng.tensor(B, D, W - 1),
        "weight": rng.uniform(-1.0, 1.0, D, W),
        "bias": rng.uniform(-1.0, 1.0, D),
    }


def reference(x, state, weight, bias):
    window = torch.cat((state, x[..., None]), dim=-1)
    wide = torch.promote_types(x.dtype, torch.float32)
    total = (window.to(wide) * weight).sum(dim=-1) + bias
    return F.silu(total).to(x.dtype), window[..., 1:].contiguous()
