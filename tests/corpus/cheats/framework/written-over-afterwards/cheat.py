import torch
import work


def add(x, y, alpha):
    z = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    for _ in range(6):
        work.copied(z, out=torch.empty_like(z))
    torch.add(x, y, alpha=alpha, out=z)
    return z
