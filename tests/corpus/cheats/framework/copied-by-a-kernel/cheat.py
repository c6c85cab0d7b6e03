import torch
import work


def matmul(a, b):
    return work.copied(torch.einsum("mk,kn->mn", a, b))
