import torch
from liger_kernel.ops import LigerAttnResFunction


def attn_res_backward(grad, values, query, weight, eps):
    values, query, weight = (tensor.detach().requires_grad_() for tensor in (values, query, weight))
    return torch.autograd.grad(LigerAttnResFunction.apply(values, query, weight, eps), (values, query, weight), grad)
