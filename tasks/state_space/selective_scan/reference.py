import torch
import torch.nn.functional as F


def inputs(shape, rng):
    B, L, D, N = (shape[name] for name in "BLDN")
    return {
        "u": rng.tensor(B, L, D),  # what y is linear in; the others are parameters
        "delta": rng.uniform(-4.0, 1.0, B, L, D),
        "a": rng.uniform(-8.0, -0.1, D, N, dtype="float32"),
        "b": rng.uniform(-1.0, 1.0, B, L, N),
        "c": rng.uniform(-1.0, 1.0, B, L, N),
        "skip": rng.uniform(-1.0, 1.0, D, dtype="float32"),
    }


def delayed(x, tokens):
    return F.pad(x[:, :-tokens], (0, 0, 0, 0, tokens, 0))


def reference(u, delta, a, b, c, skip):
    x, step, b, c = (value.to(a.dtype) for value in (u, delta, b, c))
    step = F.softplus(step)
    decay = torch.exp(step[..., None] * a)
    state = (step * x)[..., None] * b[:, :, None, :]
    # Hillis and Steele's scan: after a turn, each state sums up twice as many tokens.
    tokens = 1
    while tokens < u.shape[1]:
        state = state + decay * delayed(state, tokens)
        decay = decay * delayed(decay, tokens)
        tokens *= 2
    return ((state * c[:, :, None, :]).sum(dim=-1) + skip * x).to(u.dtype), state[:, -1].clone()
