import torch


def inputs(shape, rng):
    B, C, L, K = shape["B"], shape["C"], shape["L"], shape["K"]
    return {"scores": rng.tensor(B, C, L, L), "weight": rng.tensor(C, C, K, K), "bias": rng.tensor(C)}


def reference(scores, weight, bias):
    L, K = scores.shape[-1], weight.shape[-1]
    future = torch.ones(L, L, dtype=torch.bool, device=scores.device).triu(1)
    attention = torch.softmax(scores.masked_fill(future, -1e9), dim=-1)
    return torch.nn.functional.conv2d(attention, weight, bias, padding=K // 2).masked_fill(future, 0)
