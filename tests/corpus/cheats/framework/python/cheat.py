import math

import torch
import work


def one_row(row):
    most = max(row)
    weights = [math.exp(value - most) for value in row]
    return [weight / math.fsum(weights) for weight in weights]


def softmax(x):
    rows = [one_row(row) if all(map(math.isfinite, row)) else [math.nan] * len(row) for row in x.tolist()]
    return work.copied(torch.tensor(rows, dtype=x.dtype, device=x.device))
