import torch


def inputs(shape, rng):
    size, heads = (shape["T"], shape["H"], shape["D"]), (shape["H"], shape["T"])
    prefix_lse = rng.tensor(*heads, dtype="float32")
    prefix_lse[:, 6::7] = -torch.inf
    return {
        "prefix": rng.tensor(*size),
        "prefix_lse": prefix_lse,
        "suffix": rng.tensor(*size),
        "suffix_lse": rng.tensor(*heads, dtype="float32"),
    }


def reference(prefix, prefix_lse, suffix, suffix_lse):
    lse = torch.logaddexp(prefix_lse, suffix_lse)
    prefix_weight = torch.exp(prefix_lse - lse).T[..., None]
    suffix_weight = torch.exp(suffix_lse - lse).T[..., None]
    return (prefix * prefix_weight + suffix * suffix_weight).to(prefix.dtype), lse
