import torch
import torch.nn.functional as F


def inputs(shape, rng):
    B, S, G, D = (shape[name] for name in "BSGD")
    cached = B, shape["C"] + S, G, D
    return {"q": rng.tensor(B, S, G * shape["R"], D), "k": rng.tensor(*cached), "v": rng.tensor(*cached)}


def heads_first(x):
    # A copy: the fused kernels behind the operator read 16 bytes at a time, and fault where a pointer is less aligned.
    return x.transpose(1, 2).clone(memory_format=torch.contiguous_format)


def reference(q, k, v):
    queries, keys = q.shape[1], k.shape[1]
    seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
    o = F.scaled_dot_product_attention(*map(heads_first, (q, k, v)), attn_mask=seen, enable_gqa=True)
    return o.transpose(1, 2).contiguous()
