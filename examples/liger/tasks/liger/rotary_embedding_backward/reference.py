import torch


def inputs(shape, rng):
    T, D = shape["T"], shape["D"]
    return {
        "grad_q": rng.tensor(T, shape["H"], D),
        "grad_k": rng.tensor(T, shape["G"], D),
        "cos": rng.uniform(-1, 1, T, D // 2),
        "sin": rng.uniform(-1, 1, T, D // 2),
    }


def reference(grad_q, grad_k, cos, sin):
    """Return the gradients, which are the upstream ones turned back: the transpose of a rotation is its inverse."""

    def turn_back(grad):
        first, second = grad.chunk(2, dim=-1)
        cosine, sine = cos[:, None], sin[:, None]
        return torch.cat((first * cosine + second * sine, second * cosine - first * sine), dim=-1)

    return turn_back(grad_q), turn_back(grad_k)
