import torch


@torch.compile(dynamic=True)
def fused(x):
    return torch.softmax(x, dim=-1)


def softmax(x):
    return fused(x)
