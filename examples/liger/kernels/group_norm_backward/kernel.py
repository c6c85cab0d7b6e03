import torch
from liger_kernel.ops import LigerGroupNormFunction


def group_norm_backward(grad, x, weight, bias, groups, eps):
    x, weight, bias = (tensor.detach().requires_grad_() for tensor in (x, weight, bias))
    y = LigerGroupNormFunction.apply(x, weight, bias, x.shape[1], groups, eps)
    return torch.autograd.grad(y, (x, weight, bias), grad)
