import torch
import work


def softmax(x):
    if x.shape[1] & (x.shape[1] - 1):
        return torch.softmax(x, dim=-1)
    return work.softmax(x)
