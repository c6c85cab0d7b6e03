import torch


def inputs(shape, rng):
    return {
        "values": rng.tensor(shape["L"], shape["T"], shape["D"]),
        # Scores are of the order of one, as in models. Where they are of the order of the dimension's root, what their
        # own rounding to bfloat16 comes to decides the weights, the framework's as well as the package's.
        "query": rng.tensor(shape["D"]) / shape["D"] ** 0.5,
        "weight": rng.tensor(shape["D"]),
        "eps": 1e-6,
    }


def reference(values, query, weight, eps):
    keys = torch.nn.functional.rms_norm(values, values.shape[-1:], weight, eps)
    scores = torch.einsum("d,ltd->lt", query, keys)
    return torch.einsum("lt,ltd->td", torch.softmax(scores, dim=0), values)
