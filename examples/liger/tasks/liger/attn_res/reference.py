import torch


def inputs(shape, rng):
    return {
        "values": rng.tensor(shape["L"], shape["T"], shape["D"]),
        "query": rng.tensor(shape["D"]),
        "weight": rng.tensor(shape["D"]),
        "eps": 1e-6,
    }


def reference(values, query, weight, eps):
    keys = torch.nn.functional.rms_norm(values, values.shape[-1:], weight, eps)
    scores = torch.einsum("d,ltd->lt", query, keys)
    return torch.einsum("lt,ltd->td", torch.softmax(scores, dim=0), values)
