import torch
from liger_kernel.ops import LigerLayerNormFunction


def layer_norm_backward(grad, x, weight, bias, eps):
    x, weight, bias = (tensor.detach().requires_grad_() for tensor in (x, weight, bias))
    return torch.autograd.grad(LigerLayerNormFunction.apply(x, weight, bias, eps), (x, weight, bias), grad)
