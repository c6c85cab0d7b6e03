import torch
from liger_kernel.ops import LigerDyTFunction


def dyt_backward(grad, x, alpha, gamma, beta):
    x, alpha, gamma, beta = (tensor.detach().requires_grad_() for tensor in (x, alpha, gamma, beta))
    return torch.autograd.grad(LigerDyTFunction.apply(x, alpha, gamma, beta), (x, alpha, gamma, beta), grad)
