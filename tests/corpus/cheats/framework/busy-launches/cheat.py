import torch
import work


def softmax(x):
    answer = torch.softmax(x, dim=-1)
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    for _ in range(4):
        work.copied(answer, out=y)
    return y
