import torch
from liger_kernel.ops import LigerEmbeddingFunction


def embedding_backward(grad, table, index):
    table = table.detach().requires_grad_()
    return torch.autograd.grad(LigerEmbeddingFunction.apply(table, index), table, grad)[0]
