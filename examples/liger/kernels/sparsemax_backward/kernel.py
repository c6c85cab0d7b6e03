import torch
from liger_kernel.ops import LigerSparsemaxFunction


def sparsemax_backward(grad, x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(LigerSparsemaxFunction.apply(x, -1), x, grad)[0]
