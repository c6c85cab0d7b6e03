import torch


def inputs(shape, rng):
    M, Q, S, N = (shape[name] for name in "MQSN")
    return {
        "x": rng.tensor(M, Q * S),
        "weight": rng.integers(-(2**31), 2**31, Q * S, N // 8, dtype="int32"),
        "scale": rng.uniform(0.005, 0.02, Q, N),
        "zero": rng.integers(-(2**31), 2**31, Q, N // 8, dtype="int32"),
    }


def codes(packed):
    column = torch.arange(8, dtype=torch.int32, device=packed.device)
    return (packed[..., None] >> (column // 2 * 4 + column % 2 * 16) & 0xF).flatten(-2)


def reference(x, weight, scale, zero):
    groups, rows = scale.shape[0], weight.shape[0] // scale.shape[0]
    steps = codes(weight).unflatten(0, (groups, rows)) - codes(zero)[:, None]
    return x @ (steps * scale[:, None]).flatten(0, 1)
