import torch

ALPHAS = (1.0, -0.5, 2.0)  # exact in every dtype, so that rounding alpha is nobody's error


def inputs(shape, rng):
    return {
        "x": rng.tensor(shape["M"], shape["N"]),
        "y": rng.tensor(shape["N"]),
        "alpha": ALPHAS[(shape["M"] + shape["N"]) % len(ALPHAS)],
    }


def reference(x, y, alpha):
    return torch.add(x, y, alpha=alpha)
